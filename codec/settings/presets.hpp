#pragma once

#include <array>

#include "core/archive/predictor.hpp"
#include "core/coders/coder.hpp"
#include "core/field/config.hpp"

namespace cuszi {

/// `automatic` may use lorenzo.
struct PredictorChoice {
  PredictorId id;
  bool automatic = false;
};

struct Preset {
  PredictorChoice predictor;
  CoderId coder;
};

inline constexpr PredictorChoice automatic_predictor{PredictorId::multilevel, true};

inline constexpr Preset ratio_preset{automatic_predictor, CoderId::ans};
inline constexpr Preset cuszi_preset{{PredictorId::interp}, CoderId::huffman};
inline constexpr Preset cusz_preset{{PredictorId::lorenzo}, CoderId::huffman};
inline constexpr Preset fast_preset{{PredictorId::tiles}, CoderId::none};
inline constexpr Preset zfp_preset{{PredictorId::zfp}, CoderId::none};
inline constexpr Preset balanced_preset{{PredictorId::cells}, CoderId::none};

/// In the order of cuszi_preset.
inline constexpr std::array presets{ratio_preset, cuszi_preset, cusz_preset,
                                    fast_preset,  zfp_preset,   balanced_preset};

inline void apply(const PredictorChoice& choice, PredictorConfig& predictor) {
  predictor.id = choice.id;
  predictor.automatic = choice.automatic;
}

inline void apply(const Preset& preset, FrameConfig& frame) {
  apply(preset.predictor, frame.predictor);
  frame.coder = preset.coder;
}

}  // namespace cuszi
