#include "bindings/c/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "codec/settings/limits.hpp"
#include "codec/settings/option_table.hpp"
#include "codec/settings/option_text.hpp"
#include "core/base/error.hpp"

namespace cuszi::api {

namespace {

/// Size of the first version.
constexpr std::size_t least_options_size = offsetof(cuszi_options, zfp_mode);

}  // namespace

cuszi_options read_options(const cuszi_options* options) {
  cuszi_options known = cuszi_default_options();
  if (options == nullptr) return known;
  if (options->version != CUSZI_OPTIONS_VERSION || options->size < least_options_size) {
    throw UsageError(
        fmt::format("options have version {} and {} bytes; initialise them with "
                    "cuszi_default_options() (version {}, {} bytes)",
                    options->version, options->size, CUSZI_OPTIONS_VERSION, sizeof known));
  }
  if (options->size > sizeof known) {
    throw UsageError(fmt::format("options have {} bytes, of a later libcuszi; this one supports {}",
                                 options->size, sizeof known));
  }
  std::memcpy(&known, options, options->size);
  return known;
}

FieldSettings checked_settings(const cuszi_options& options) {
  FieldSettings settings = field_settings(options, options.bound != 0, "bound");
  if (options.zfp_mode != CUSZI_ZFP_ACCURACY && settings.frame.predictor.id != PredictorId::zfp) {
    refuse_value("zfp_mode", fmt::format("{}", options.zfp_mode),
                 "0, and the predictor is not zfp");
  }
  return settings;
}

void set_option(cuszi_options* options, const char* name, const char* text) {
  if (options == nullptr || name == nullptr || text == nullptr) {
    throw UsageError("options, name or text is NULL");
  }
  cuszi_options known = read_options(options);
  const std::size_t size = options->size;
  const auto unknown = std::as_bytes(std::span(&known, 1)).subspan(size);
  const std::vector<std::byte> before(unknown.begin(), unknown.end());
  find_option(name).set(name, text, known);
  if (!std::equal(before.begin(), before.end(), unknown.begin())) {
    throw UsageError(
        fmt::format("{} is not in options of {} bytes, of an earlier cuszi.h", name, size));
  }
  std::memcpy(options, &known, size);
}

Preview preview_of(const cuszi_part* part, const FieldCuts& plan) {
  if (part == nullptr) throw UsageError("part is NULL");
  if (part->size < sizeof(cuszi_part)) {
    throw UsageError(
        fmt::format("part has {} bytes; initialise it with cuszi_whole_field() ({} bytes)",
                    part->size, sizeof(cuszi_part)));
  }
  Box box;
  for (std::size_t axis = 0; axis < CUSZI_MAX_RANK; ++axis) {
    box.first[axis] = part->first[axis];
    if (part->end[axis] != 0) box.end[axis] = part->end[axis];
  }
  const std::uint64_t stride = part->stride;
  if (!std::has_single_bit(stride) || stride > most_stride) {
    refuse_value("stride", fmt::format("{}", stride),
                 fmt::format("a power of two from 1 to {}", most_stride));
  }
  return {plan, stride, box};
}

FieldLayout field_layout(const cuszi_field* field) {
  if (field == nullptr) throw UsageError("field is NULL");
  FieldLayout layout;
  layout.dtype = static_cast<DType>(within("dtype", field->dtype, CUSZI_F32, CUSZI_U64));
  const auto rank = static_cast<std::size_t>(within("rank", field->rank, 1, CUSZI_MAX_RANK));
  const auto dims = Dims::make(std::span(field->dims).first(rank));
  if (!dims) {
    throw UsageError(fmt::format("dims {}: each must be at least 1, their product below 2^60",
                                 fmt::join(std::span(field->dims).first(rank), "x")));
  }
  layout.dims = *dims;
  layout.byte_order = ByteOrder::little;
  return layout;
}

cuszi_field field_of(DType dtype, const Dims& dims) {
  cuszi_field field{};
  field.dtype = static_cast<std::int32_t>(dtype);
  field.rank = dims.rank();
  std::copy(dims.extents().begin(), dims.extents().end(), std::begin(field.dims));
  return field;
}

}  // namespace cuszi::api
