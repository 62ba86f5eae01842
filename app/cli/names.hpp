#pragma once

#include <array>
#include <string_view>

#include "app/cli/options.hpp"
#include "codec/io/byte_order.hpp"
#include "core/field/config.hpp"

namespace cuszi::app {

/// What an enumerator is called on the command line and in reports.
template <class Enum>
struct Named {
  std::string_view name;
  Enum value;
};

inline constexpr std::array<Named<ErrorMode>, 2> error_mode_names{
    {{"rel", ErrorMode::relative}, {"abs", ErrorMode::absolute}}};

/// Whether a target that cannot be met is accepted.
inline constexpr std::array<Named<bool>, 2> target_miss_names{{{"error", false}, {"ok", true}}};

/// What other compressors call them.
inline constexpr std::array<Named<ErrorMode>, 4> error_mode_aliases{
    {{"REL", ErrorMode::relative},
     {"r2r", ErrorMode::relative},
     {"vr_rel", ErrorMode::relative},
     {"ABS", ErrorMode::absolute}}};

inline constexpr std::array<Named<DType>, 2> dtype_names{
    {{"f32", DType::f32}, {"f64", DType::f64}}};

inline constexpr std::array<Named<ByteOrder>, 2> byte_order_names{
    {{"little", ByteOrder::little}, {"big", ByteOrder::big}}};

inline constexpr std::array<Named<Cubic>, 2> cubic_names{
    {{"not-a-knot", Cubic::not_a_knot}, {"natural", Cubic::natural}}};

inline constexpr std::array<Named<IndexKind>, 4> index_names{{{"hybrid", IndexKind::hybrid},
                                                              {"offset", IndexKind::offset},
                                                              {"length", IndexKind::length},
                                                              {"none", IndexKind::none}}};

inline constexpr std::array<Named<HuffmanWidth>, 3> huffman_width_names{
    {{"auto", HuffmanWidth::automatic}, {"32", HuffmanWidth::u32}, {"64", HuffmanWidth::u64}}};

inline constexpr std::array<Named<AxisRole>, 3> axis_role_names{
    {{"lattice", AxisRole::lattice},
     {"independent", AxisRole::independent},
     {"layered", AxisRole::layered}}};

inline constexpr std::array<Named<Effort>, 3> effort_names{
    {{"fast", Effort::fast}, {"normal", Effort::normal}, {"best", Effort::best}}};

inline constexpr std::array<Named<Lossless>, 2> lossless_names{
    {{"none", Lossless::none}, {"bitcomp", Lossless::bitcomp}}};

inline constexpr std::array<Named<Study>, 3> study_names{
    {{"huffman", Study::huffman}, {"index", Study::index}, {"zfp-index", Study::zfp_index}}};

inline constexpr std::array<Named<PictureFormat>, 4> picture_format_names{
    {{"png", PictureFormat::png},
     {"sixel", PictureFormat::sixel},
     {"kitty", PictureFormat::kitty},
     {"blocks", PictureFormat::blocks}}};

template <class Enum, std::size_t count>
constexpr std::string_view name_in(const std::array<Named<Enum>, count>& names, Enum value) {
  for (const Named<Enum>& named : names) {
    if (named.value == value) return named.name;
  }
  return "?";
}

}  // namespace cuszi::app
