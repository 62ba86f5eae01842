#include <netcdf.h>

#include <algorithm>
#include <array>
#include <utility>

#include "bindings/containers/blocks.hpp"
#include "bindings/containers/netcdf.hpp"
#include "core/base/error.hpp"
#include "core/base/growing_memory.hpp"
#include "core/base/unmovable.hpp"

namespace cuszi::netcdf {

namespace {

using Name = std::array<char, NC_MAX_NAME + 1>;

/// Dimensions and variables keep their numbers.
class ClassicCopy : Unmovable {
 public:
  ClassicCopy(const Source& from, const Target& to, const std::vector<FilteredVariable>& filtered,
              const CopyLook& look)
      : from_(from.id), input_(from.name), output_(to.name), filtered_(filtered), look_(look) {
    int format = 0;
    check(::nc_inq_format(from_, &format), input_);
    // CDF-5 types exceed the classic model.
    const int model = format == NC_FORMAT_CDF5 ? 0 : NC_CLASSIC_MODEL;
    require(::nc_create(to.path.c_str(), NC_CLOBBER | NC_NETCDF4 | model, &to_));
  }
  ~ClassicCopy() {
    if (to_ >= 0) ::nc_close(to_);
  }

  void run() {
    int variables = 0;
    check(::nc_inq_nvars(from_, &variables), input_);
    define_dimensions();
    copy_attributes(NC_GLOBAL);
    for (int id = 0; id < variables; ++id) define(id);
    require(::nc_enddef(to_));
    for (int id = 0; id < variables; ++id) copy_values(id);
    require(::nc_close(std::exchange(to_, -1)));
  }

 private:
  void require(int status) const {
    if (status == NC_NOERR) return;
    throw OutputError(output_ + ": NetCDF fails: " + reason_of(status));
  }

  const FilteredVariable* filtered(const std::string& name) const {
    const auto found =
        std::find_if(filtered_.begin(), filtered_.end(),
                     [&](const FilteredVariable& each) { return each.variable.name == name; });
    return found == filtered_.end() ? nullptr : &*found;
  }

  void define_dimensions() const {
    int count = 0;
    int unlimited = -1;
    check(::nc_inq_ndims(from_, &count), input_);
    check(::nc_inq_unlimdim(from_, &unlimited), input_);
    for (int id = 0; id < count; ++id) {
      Name name{};
      std::size_t length = 0;
      int same = 0;
      check(::nc_inq_dim(from_, id, name.data(), &length), input_);
      require(::nc_def_dim(to_, name.data(), id == unlimited ? NC_UNLIMITED : length, &same));
    }
  }

  void copy_attributes(int variable) const {
    int count = 0;
    check(variable == NC_GLOBAL ? ::nc_inq_natts(from_, &count)
                                : ::nc_inq_varnatts(from_, variable, &count),
          input_);
    for (int i = 0; i < count; ++i) {
      Name name{};
      check(::nc_inq_attname(from_, variable, i, name.data()), input_);
      require(::nc_copy_att(from_, variable, name.data(), to_, variable));
    }
  }

  void define(int id) const {
    Name name{};
    nc_type type = NC_NAT;
    int rank = 0;
    std::array<int, NC_MAX_VAR_DIMS> dims{};
    check(::nc_inq_var(from_, id, name.data(), &type, &rank, dims.data(), nullptr), input_);
    int same = 0;
    require(::nc_def_var(to_, name.data(), type, rank, dims.data(), &same));
    copy_attributes(id);
    const FilteredVariable* const variable = filtered(name.data());
    if (variable == nullptr) return;
    const auto chunk = chunk_for(variable->variable.extents, size_of(*variable->variable.dtype));
    const std::vector<std::size_t> extents(chunk.begin(), chunk.end());
    const auto numbers = filter_numbers(*variable);
    require(::nc_def_var_chunking(to_, id, NC_CHUNKED, extents.data()));
    require(::nc_def_var_filter(to_, id, CUSZI_H5_FILTER, numbers.size(), numbers.data()));
  }

  void copy_values(int id) const {
    const Variable variable = describe(from_, id, "");
    nc_type type = NC_NAT;
    std::size_t value_bytes = 0;
    check(::nc_inq_vartype(from_, id, &type), variable.name);
    check(::nc_inq_type(from_, type, nullptr, &value_bytes), variable.name);
    const FilteredVariable* const is_filtered = filtered(variable.name);
    const std::vector<std::uint64_t> chunk = chunk_for(variable.extents, value_bytes);
    Buffer buffer;
    for_each_block(variable.extents, chunk, value_bytes, [&](const Block& block) {
      const std::vector<std::size_t> first(block.first.begin(), block.first.end());
      const std::vector<std::size_t> count(block.count.begin(), block.count.end());
      const MutableBytes values = buffer.resize(block.values() * value_bytes);
      check(::nc_get_vara(from_, id, first.data(), count.data(), values.data()), variable.name);
      require(::nc_put_vara(to_, id, first.data(), count.data(), values.data()));
      if (is_filtered != nullptr) look_(*is_filtered, values);
    });
  }

  int from_;
  int to_ = -1;
  std::string input_;
  std::string output_;
  const std::vector<FilteredVariable>& filtered_;
  const CopyLook& look_;
};

}  // namespace

void copy_classic(const Source& from, const Target& to,
                  const std::vector<FilteredVariable>& filtered, const CopyLook& look) {
  ClassicCopy(from, to, filtered, look).run();
}

}  // namespace cuszi::netcdf
