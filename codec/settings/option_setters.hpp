#pragma once

#include <string_view>

#include "cuszi/cuszi.h"

namespace cuszi {

/// Throws UsageError with `label` (the user's name of the option), text and what is accepted.
using OptionSetter = void(std::string_view label, std::string_view text, cuszi_options& options);

OptionSetter set_bound;         ///< clears the target
OptionSetter set_mode;          ///< "rel", "abs", or other compressors' names
OptionSetter set_target;        ///< "psnr:DB" or "ratio:FACTOR"; clears bound and mode
OptionSetter set_axes;          ///< "auto", "lattice", "layered:AXIS", "independent:AXIS"
OptionSetter set_interp;        ///< "tile=16x16x16,anchor=16": options interp-KEY
OptionSetter set_interp_tile;   ///< "16x16", slow extents default to 1
OptionSetter set_interp_order;  ///< "zyx", missing axes first
OptionSetter set_zfp_mode;      ///< "accuracy", "precision:PLANES", "rate:BITS", "reversible"
OptionSetter set_device;        ///< "auto", "cpu", "cuda", "cuda:N,M..." or "cuda:all"
OptionSetter add_fill;          ///< number or "netcdf"; ignores NaN
OptionSetter add_isovalue;      ///< finite number
OptionSetter add_region;        ///< "0:8,100:200,:=1e-4"
OptionSetter set_padding;       ///< "0"
OptionSetter set_bound_blocks;  ///< "16x16x16"
OptionSetter set_range;         ///< "MIN,MAX"

}  // namespace cuszi
