#pragma once

#include <memory>

#include "core/backend/encode_session.hpp"
#include "core/multilevel/multilevel.hpp"
#include "core/multilevel/schedule.hpp"
#include "cpu_ref/field/frame_work.hpp"

namespace cuszi::cpu {

/// One frame on its way through the passes of a schedule, in either direction: both predict from
/// the values restored so far, so they share everything but the look at the original.
class MultilevelEngine {
 public:
  virtual ~MultilevelEngine() = default;

  virtual const Pass& pass(int number) const = 0;
  /// For each code position of the pass whether its point is missing; empty if the frame has none.
  virtual std::vector<std::uint8_t> missing(int number) const = 0;

  /// Predicts, quantises and restores the pass's points; outliers by code position.
  virtual void predict_quantise(int number, std::span<QuantCode> codes,
                                std::vector<SparseEntry>& outliers) = 0;
  /// Restores the pass's points.
  virtual void reconstruct(int number, std::span<const QuantCode> codes,
                           const SparseList& outliers) = 0;

  /// Chooses the weights of the pass's energy estimates, knowing its codes, and fills its contexts.
  virtual std::vector<std::byte> fit_contexts(int number, std::span<std::uint8_t> contexts) = 0;
  /// Fills the contexts by weights that fit_contexts() has returned. Throws ArchiveError.
  virtual void contexts(int number, Bytes weights, std::span<std::uint8_t> contexts) = 0;

  /// Frees what has been restored, which nobody reads when all contexts are known.
  virtual void drop_values() = 0;

  /// Whether the pass is the first of level 1 and others come before it.
  virtual bool follows_coarse_lattice(int number) const = 0;
  /// The sum of error_in_units() over the points quantised so far that are not missing.
  virtual std::int64_t error_sum() const = 0;
  /// A hash of what the lattice of the levels from 2 on was restored to: backends that disagree on
  /// a value would disagree on contexts, and that must be an error.
  virtual std::uint64_t coarse_hash() const = 0;
};

template <class T>
std::unique_ptr<MultilevelEngine> make_encoder(const MultilevelParams& params,
                                               const ErrorRoom& room, const FrameInput<T>& frame,
                                               const LocalBounds* local = nullptr);
template <class T>
std::unique_ptr<MultilevelEngine> make_decoder(const MultilevelParams& params,
                                               const FrameOutput<T>& frame,
                                               const LocalBounds* local = nullptr,
                                               const Selection& points = {});

/// The original with NaN where it is missing, so that what is made from it is not finite either;
/// empty if nothing is.
template <class T>
std::vector<T> without_missing(const FrameInput<T>& frame);

/// Fits the coefficients of all classes to the original values (see docs/design/multilevel.md).
template <class T>
void fit_coefficients(MultilevelParams& params, const FrameInput<T>& frame);

}  // namespace cuszi::cpu
