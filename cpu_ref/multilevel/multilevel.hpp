#pragma once

#include <memory>

#include "core/backend/encode_session.hpp"
#include "core/multilevel/multilevel.hpp"
#include "core/multilevel/schedule.hpp"
#include "cpu_ref/field/frame_work.hpp"

namespace cuszi::cpu {

/// A frame on its way through the passes. Encoder and decoder share all but the access to
/// originals.
class MultilevelEngine {
 public:
  virtual ~MultilevelEngine() = default;

  virtual const Pass& pass(int number) const = 0;
  /// By code position of the pass; empty without missing points.
  virtual std::vector<std::uint8_t> missing(int number) const = 0;

  /// Outliers are listed by code position.
  virtual void predict_quantise(int number, std::span<QuantCode> codes,
                                std::vector<SparseEntry>& outliers) = 0;
  virtual void reconstruct(int number, std::span<const QuantCode> codes,
                           const SparseList& outliers) = 0;

  /// Chooses the context weights of a pass with known codes, and fills its contexts.
  virtual std::vector<std::byte> fit_contexts(int number, std::span<std::uint8_t> contexts) = 0;
  /// `weights` as written by fit_contexts(). Throws ArchiveError.
  virtual void contexts(int number, Bytes weights, std::span<std::uint8_t> contexts) = 0;

  /// Restored values are not needed after all contexts are known.
  virtual void drop_values() = 0;

  /// Whether the pass is the first of level 1, after coarser ones.
  virtual bool follows_coarse_lattice(int number) const = 0;
  /// Over quantised points that are not missing.
  virtual std::int64_t error_sum() const = 0;
  /// Hash of the restored coarse lattice: backends that disagree on a value would disagree on
  /// contexts.
  virtual std::uint64_t coarse_hash() const = 0;
};

template <class T>
std::unique_ptr<MultilevelEngine> make_encoder(const MultilevelParams& params,
                                               const Tolerance& tolerance,
                                               const FrameInput<T>& frame,
                                               const LocalBounds* local = nullptr);
template <class T>
std::unique_ptr<MultilevelEngine> make_decoder(const MultilevelParams& params,
                                               const FrameOutput<T>& frame,
                                               const LocalBounds* local = nullptr,
                                               const Selection& points = {});

/// Originals with NaN at missing points; empty if none are missing.
template <class T>
std::vector<T> without_missing(const FrameInput<T>& frame);

template <class T>
void fit_coefficients(MultilevelParams& params, const FrameInput<T>& frame);

}  // namespace cuszi::cpu
