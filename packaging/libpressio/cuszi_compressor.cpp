/// The compressor "cuszi" of libpressio: one archive for each buffer.
#include <libpressio_ext/cpp/compressor.h>
#include <libpressio_ext/cpp/data.h>
#include <libpressio_ext/cpp/domain_manager.h>
#include <libpressio_ext/cpp/options.h>
#include <libpressio_ext/cpp/pressio.h>

#include <algorithm>
#include <cuszi/cuszi.hpp>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace libpressio::compressors::cuszi_ns {

namespace {

using Choices = std::map<std::string, std::int32_t>;

const Choices presets = {{"ratio", CUSZI_PRESET_RATIO}, {"cuszi", CUSZI_PRESET_CUSZI},
                         {"cusz", CUSZI_PRESET_CUSZ},   {"fast", CUSZI_PRESET_FAST},
                         {"zfp", CUSZI_PRESET_ZFP},     {"balanced", CUSZI_PRESET_BALANCED}};
const Choices efforts = {{"normal", CUSZI_EFFORT_NORMAL}, {"fast", CUSZI_EFFORT_FAST}};
const Choices devices = {
    {"auto", CUSZI_DEVICE_AUTO}, {"cpu", CUSZI_DEVICE_CPU}, {"cuda", CUSZI_DEVICE_CUDA}};

/// How a bound or target is called, by its mode.
const std::map<std::int32_t, const char*> bound_keys = {{CUSZI_ABS, "pressio:abs"},
                                                        {CUSZI_REL, "pressio:rel"},
                                                        {CUSZI_PWREL, "pressio:pw_rel"},
                                                        {CUSZI_PSNR, "cuszi:psnr"},
                                                        {CUSZI_RATIO, "cuszi:ratio"}};

std::vector<std::string> names_of(const Choices& choices) {
  std::vector<std::string> names;
  for (const auto& [name, number] : choices) names.push_back(name);
  return names;
}

std::string name_of(const Choices& choices, std::int32_t number) {
  const auto is_it = [number](const auto& choice) { return choice.second == number; };
  return std::find_if(choices.begin(), choices.end(), is_it)->first;
}

/// Throws cuszi::Error for types that are no numbers.
cuszi_dtype dtype_of(pressio_dtype type) {
  switch (type) {
    case pressio_float_dtype: return CUSZI_F32;
    case pressio_double_dtype: return CUSZI_F64;
    case pressio_int8_dtype: return CUSZI_I8;
    case pressio_uint8_dtype: return CUSZI_U8;
    case pressio_int16_dtype: return CUSZI_I16;
    case pressio_uint16_dtype: return CUSZI_U16;
    case pressio_int32_dtype: return CUSZI_I32;
    case pressio_uint32_dtype: return CUSZI_U32;
    case pressio_int64_dtype: return CUSZI_I64;
    case pressio_uint64_dtype: return CUSZI_U64;
    default: throw ::cuszi::Error(CUSZI_BAD_USAGE, "values that are neither floats nor integers");
  }
}

/// A buffer as the library sees it: dims slowest first, of which libpressio's are the other way
/// round. Extents of 1 are left out, and of more than four the slowest are merged. Throws
/// cuszi::Error for other types.
cuszi_field field_of_data(const pressio_data& data) {
  std::vector<std::uint64_t> dims;
  for (const std::size_t extent : data.dimensions()) {
    if (extent != 1) dims.insert(dims.begin(), extent);
  }
  if (dims.empty()) dims.push_back(1);
  while (dims.size() > CUSZI_MAX_RANK) {
    dims[1] *= dims[0];
    dims.erase(dims.begin());
  }
  return ::cuszi::field_of(dtype_of(data.dtype()), dims);
}

}  // namespace

class CusziCompressor final : public libpressio_compressor_plugin {
 public:
  CusziCompressor() { options_.mode = CUSZI_ABS; }
  /// With the same options; the copy has a context of its own, so that threads may have one each.
  CusziCompressor(const CusziCompressor& other)
      : libpressio_compressor_plugin(other), options_(other.options_), fills_(other.fills_) {}

  pressio_options get_options_impl() const override {
    pressio_options options;
    for (const auto& [mode, key] : bound_keys) {
      if (mode == options_.mode) {
        set(options, key, options_.bound);
      } else {
        set_type(options, key, pressio_option_double_type);
      }
    }
    set(options, "pressio:nthreads", static_cast<std::uint32_t>(options_.threads));
    set(options, "cuszi:preset", name_of(presets, options_.preset));
    set(options, "cuszi:effort", name_of(efforts, options_.effort));
    set(options, "cuszi:device", name_of(devices, options_.device));
    set(options, "cuszi:fill", pressio_data(fills_.begin(), fills_.end()));
    set(options, "cuszi:verify", options_.verify);
    set(options, "cuszi:strict", options_.strict);
    return options;
  }

  pressio_options get_configuration_impl() const override {
    pressio_options options;
    set(options, "pressio:thread_safe", pressio_thread_safety_multiple);
    set(options, "pressio:stability", "external");
    set(options, "cuszi:preset", names_of(presets));
    set(options, "cuszi:effort", names_of(efforts));
    set(options, "cuszi:device", names_of(devices));
    std::vector<std::string> bounds;
    for (const auto& [mode, key] : bound_keys) bounds.emplace_back(key);
    std::vector<std::string> all = bounds;
    all.insert(all.end(), {"cuszi:preset", "cuszi:effort", "cuszi:fill"});
    set(options, "pressio:highlevel", bounds);
    set(options, "predictors:error_dependent", all);
    set(options, "predictors:error_agnostic", all);
    set(options, "predictors:runtime",
        std::vector<std::string>{"pressio:nthreads", "cuszi:device", "cuszi:verify"});
    return options;
  }

  pressio_options get_documentation_impl() const override {
    pressio_options options;
    set(options, "pressio:description",
        "error-bounded lossy compression on GPUs and CPUs; the bound is strict, and 0 is lossless");
    set(options, "cuszi:preset", "the method: see the manual page of the tool cuszi");
    set(options, "cuszi:effort", "how much the preset ratio tries");
    set(options, "cuszi:psnr", "instead of a bound: a PSNR of at least so many dB");
    set(options, "cuszi:ratio", "instead of a bound: at least so many times fewer bytes");
    set(options, "cuszi:device", "where to work");
    set(options, "cuszi:fill",
        "values that mean missing, besides NaN and the infinities; they come back bit for bit");
    set(options, "cuszi:verify", "if not 0, what was compressed is restored and compared");
    set(options, "cuszi:strict",
        "if not 0, what makes a result useless is an error instead of a warning");
    return options;
  }

  int set_options_impl(const pressio_options& options) override {
    std::int32_t modes = 0;
    for (const auto& [mode, key] : bound_keys) {
      double bound = 0;
      if (get(options, key, &bound) != pressio_options_key_set) continue;
      if (++modes > 1)
        return set_error(CUSZI_BAD_USAGE,
                         "more than one of pressio:abs, pressio:rel, pressio:pw_rel, cuszi:psnr, "
                         "cuszi:ratio");
      options_.mode = mode;
      options_.bound = bound;
    }
    std::uint32_t threads = 0;
    if (get(options, "pressio:nthreads", &threads) == pressio_options_key_set) {
      options_.threads = static_cast<std::int32_t>(threads);
    }
    get(options, "cuszi:verify", &options_.verify);
    get(options, "cuszi:strict", &options_.strict);
    pressio_data fills;
    if (get(options, "cuszi:fill", &fills) == pressio_options_key_set)
      fills_ = fills.to_vector<double>();
    const bool all_known = set_choice(options, "cuszi:preset", presets, options_.preset) &&
                           set_choice(options, "cuszi:effort", efforts, options_.effort) &&
                           set_choice(options, "cuszi:device", devices, options_.device);
    return all_known ? 0 : error_code();
  }

  int compress_impl(const pressio_data* real_input, pressio_data* output) override {
    return reporting([&] {
      const pressio_data input = on_host(*real_input);
      const cuszi_field field = field_of_data(input);
      const cuszi_options options = options_with_fills();
      // Pages that are never written cost nothing.
      const std::unique_ptr<char[]> room(
          new char[std::max<std::size_t>(cuszi_bound(&field, &options), 1)]);
      const std::size_t size = context_.compress(options, field, input.data(), room.get(),
                                                 cuszi_bound(&field, &options));
      warning_ = context_.warning();
      *output = pressio_data::copy(pressio_byte_dtype, room.get(), {size});
    });
  }

  int decompress_impl(const pressio_data* real_input, pressio_data* output) override {
    return reporting([&] {
      const pressio_data input = on_host(*real_input);
      const cuszi_field found = context_.info(input.data(), input.size_in_bytes()).field;
      const cuszi_field wanted = field_of_data(*output);
      if (found.dtype != wanted.dtype || cuszi_field_bytes(&found) != cuszi_field_bytes(&wanted)) {
        throw ::cuszi::Error(
            CUSZI_BAD_USAGE,
            "the archive's values are of another type or number than the output's");
      }
      const cuszi_options options = options_with_fills();
      pressio_data restored = pressio_data::owning(output->dtype(), output->dimensions());
      context_.decompress(&options, input.data(), input.size_in_bytes(), restored.data(),
                          restored.size_in_bytes());
      *output = std::move(restored);
    });
  }

  /// What makes the last archive useless, though it was made.
  pressio_options get_metrics_results_impl() const override {
    pressio_options options;
    set(options, "cuszi:warning", warning_);
    return options;
  }

  std::shared_ptr<libpressio_compressor_plugin> clone() override {
    return std::make_shared<CusziCompressor>(*this);
  }

  int major_version() const override { return part_of_version(0); }
  int minor_version() const override { return part_of_version(1); }
  int patch_version() const override { return part_of_version(2); }
  const char* version() const override { return cuszi_version(); }
  const char* prefix() const override { return "cuszi"; }

 private:
  static pressio_data on_host(const pressio_data& data) {
    return domain_manager().make_readable(domain_plugins().build("malloc"), data);
  }

  static int part_of_version(int index) {
    std::istringstream text(cuszi_version());
    std::string part;
    for (int i = 0; i <= index; ++i) std::getline(text, part, '.');
    return std::stoi(part);
  }

  cuszi_options options_with_fills() const {
    cuszi_options options = options_;
    options.fill_count = static_cast<std::uint32_t>(fills_.size());
    options.fills = fills_.data();
    return options;
  }

  /// Whether a name that was set is known.
  bool set_choice(const pressio_options& options, const char* key, const Choices& choices,
                  std::int32_t& number) {
    std::string wanted;
    if (get(options, key, &wanted) != pressio_options_key_set) return true;
    const auto found = choices.find(wanted);
    if (found != choices.end()) {
      number = found->second;
      return true;
    }
    std::string accepted;
    for (const std::string& each : names_of(choices))
      accepted += (accepted.empty() ? "" : ", ") + each;
    set_error(CUSZI_BAD_USAGE, std::string(key) + " '" + wanted + "' is not one of " + accepted);
    return false;
  }

  /// Runs a call, and returns its status for libpressio.
  template <class Call>
  int reporting(Call call) {
    try {
      call();
      return 0;
    } catch (const ::cuszi::Error& failure) {
      return set_error(failure.status(), failure.what());
    } catch (const std::exception& failure) {
      return set_error(CUSZI_INTERNAL, failure.what());
    }
  }

  cuszi_options options_ = cuszi_default_options();  // without fill values
  std::vector<double> fills_;
  std::string warning_;
  ::cuszi::Context context_;
};

const pressio_register registration(compressor_plugins(), "cuszi",
                                    [] { return std::make_shared<CusziCompressor>(); });

}  // namespace libpressio::compressors::cuszi_ns
