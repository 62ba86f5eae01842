#pragma once

#include <memory>
#include <vector>

#include "core/decode_session.hpp"
#include "core/encode_session.hpp"
#include "core/quantizer.hpp"

namespace cuszi::gpu {

// Steps whose kernels are to come: the host does them with what the device has sent it.

/// What is coded of a pass, by place.
struct HostSymbols {
  std::span<QuantCode> codes;
  std::span<std::uint8_t> contexts;       ///< none: all alike
  std::span<const std::uint8_t> missing;  ///< 1 where a point stands in no stream; none: nowhere
  PassShape shape;
};

/// A section in the host's memory.
struct HostSection {
  SectionId id;
  std::vector<std::byte> bytes;
};

/// The sections that a coder makes of the passes of a level, for each of them. Uses up `passes`.
std::vector<std::vector<HostSection>> encode_on_host(const CoderParams& coder,
                                                     const HuffmanTuning& tuning,
                                                     std::span<const HostSymbols> passes);

/// The codes of a level that has been decoded as far as it can be without contexts.
class HostLevel {
 public:
  virtual ~HostLevel() = default;

  /// Fills the codes of a pass; those of missing points are undefined. Throws ArchiveError.
  virtual void place(std::size_t pass, const HostSymbols& symbols) const = 0;
};

/// The inverse of encode_on_host(); keeps parameters and sections, which lie in the host's memory.
/// Throws ArchiveError.
std::unique_ptr<HostLevel> decode_on_host(const CoderParams& coder, const CodedLevel& level);

/// A frame in the host's memory.
template <class T>
struct HostFrame {
  Dims dims;
  std::vector<T> values;
  Mask mask;
  double min;
  double max;
  MissingTest<T> fills;
};

/// Fits the coefficients of all classes.
template <class T>
void fit_on_host(MultilevelParams& params, const HostFrame<T>& frame);

/// Trials in a part of the frame, which must outlive them.
template <class T>
std::unique_ptr<TrialSession> trials_on_host(const Selection& box, const HostFrame<T>& frame);

}  // namespace cuszi::gpu
