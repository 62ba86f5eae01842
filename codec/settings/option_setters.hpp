#pragma once

#include <string_view>

#include "cuszi/cuszi.h"

namespace cuszi {

/// Sets what the text of an option says. Throws UsageError with `label`, which is what the user
/// calls the option, the text and what would be accepted.
using OptionSetter = void(std::string_view label, std::string_view text, cuszi_options& options);

// Setters of options whose texts have a form of their own.

OptionSetter set_bound;         ///< a number; its size is left to check_bound(). Replaces a target
OptionSetter set_mode;          ///< "rel" or "abs", or what other compressors call them
OptionSetter set_target;        ///< "psnr:DB" or "ratio:FACTOR". Replaces bound and mode
OptionSetter set_axes;          ///< "auto", "lattice", "layered:AXIS" or "independent:AXIS"
OptionSetter set_interp;        ///< "tile=16x16x16,anchor=16": keys of options interp-KEY
OptionSetter set_interp_tile;   ///< "16x16"; slow axes that are not given have an extent of 1
OptionSetter set_interp_order;  ///< "zyx"; axes that are not named go first
OptionSetter set_zfp_mode;      ///< "accuracy", "precision:PLANES", "rate:BITS" or "reversible"
OptionSetter set_device;        ///< "auto", "cpu", "cuda", "cuda:N", "cuda:N,M..." or "cuda:all"
OptionSetter add_fill;          ///< a number or "netcdf"; NaN, which is missing anyway, adds none
OptionSetter add_isovalue;      ///< a finite number
OptionSetter add_region;        ///< "0:8,100:200,:=1e-4": ranges as of a box, and a bound
OptionSetter set_padding;       ///< "0"
OptionSetter set_bound_blocks;  ///< "16x16x16"
OptionSetter set_range;         ///< "MIN,MAX"

}  // namespace cuszi
