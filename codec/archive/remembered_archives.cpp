#include "codec/archive/remembered_archives.hpp"

#include <pthread.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <span>

#include "core/field/stored_type.hpp"

namespace cuszi {

namespace {

constexpr std::uint64_t most_parts = 512;
constexpr std::uint64_t most_corners = std::uint64_t{1} << Dims::max_rank;

/// Corners, of which every smaller box misses half, and spread points in different columns.
std::vector<std::uint64_t> sampled_points(const Dims& dims) {
  std::vector<std::uint64_t> points;
  const std::uint64_t corners = std::uint64_t{1} << static_cast<unsigned>(dims.rank());
  for (std::uint64_t corner = 0; corner < corners; ++corner) {
    std::uint64_t point = 0;
    for (int axis = 0; axis < dims.rank(); ++axis) {
      point = point * dims[axis] + (corner >> static_cast<unsigned>(axis) & 1) * (dims[axis] - 1);
    }
    points.push_back(point);
  }
  const std::uint64_t all = dims.count();
  const std::uint64_t parts = std::min(all, most_parts);
  for (std::uint64_t i = 0; i < parts; ++i) {
    const std::uint64_t first = all / parts * i + std::min(i, all % parts);
    const std::uint64_t width = all / parts + (i < all % parts ? 1 : 0);
    points.push_back(first + (i * 0x9E3779B97F4A7C15U >> 32U) % width);
  }
  return points;
}

std::vector<std::byte> sample_of(const FieldKind& kind, Bytes values) {
  const ByteCount size = size_of(kind.dtype);
  const std::vector<std::uint64_t> points = sampled_points(kind.dims);
  std::vector<std::byte> sample(points.size() * size);
  for (std::size_t i = 0; i < points.size(); ++i) {
    std::memcpy(sample.data() + i * size, values.data() + points[i] * size, size);
  }
  return sample;
}

std::vector<bool> agreement(Bytes one, Bytes other, ByteCount size) {
  std::vector<bool> agree(one.size() / size);
  for (std::size_t i = 0; i < agree.size(); ++i) {
    agree[i] = std::memcmp(one.data() + i * size, other.data() + i * size, size) == 0;
  }
  return agree;
}

std::vector<bool> presence(const FieldKind& kind, const FillValues& fills, Bytes sample) {
  std::vector<bool> is_there(sample.size() / size_of(kind.dtype));
  with_work_values(kind.dtype, sample, [&]<class T>(std::span<const T> values) {
    const MissingTest<T> is_missing(stored_fills(kind.dtype, fills));
    for (std::size_t i = 0; i < is_there.size(); ++i) is_there[i] = !is_missing(values[i]);
  });
  return is_there;
}

}  // namespace

RememberedArchives& RememberedArchives::of_process() {
  // Leaked: HDF5 still compresses while the process exits.
  static RememberedArchives& all = *std::make_unique<RememberedArchives>().release();
  // A child must not inherit a lock of a thread that it lacks.
  static const int is_registered = ::pthread_atfork(
      [] { all.mutex_.lock(); }, [] { all.mutex_.unlock(); }, [] { all.mutex_.unlock(); });
  static_cast<void>(is_registered);
  return all;
}

void RememberedArchives::add(const FieldKind& kind, std::vector<std::byte> archive, Bytes values) {
  const ByteCount bytes = archive.size() + (most_parts + most_corners) * size_of(kind.dtype);
  if (bytes > most_bytes / 2) return;
  Entry entry{kind, {}, values.empty() ? std::vector<std::byte>{} : sample_of(kind, values), bytes};
  const std::scoped_lock lock(mutex_);
  const auto same = std::ranges::find_if(entries_, [&](const Entry& known) {
    return known.kind == kind && *known.archive == archive;
  });
  if (same != entries_.end()) return entries_.splice(entries_.begin(), entries_, same);
  entry.archive = std::make_shared<const std::vector<std::byte>>(std::move(archive));
  entries_.push_front(std::move(entry));
  bytes_ += bytes;
  for (; bytes_ > most_bytes || entries_.size() > most_entries; entries_.pop_back())
    bytes_ -= entries_.back().bytes;
}

bool RememberedArchives::has(const FieldKind& kind) const {
  const std::scoped_lock lock(mutex_);
  return std::ranges::any_of(entries_, [&](const Entry& known) { return known.kind == kind; });
}

/// Samples archives added without values.
void RememberedArchives::complete(const FieldKind& kind, const Restore& restore) {
  const auto is_open = [&](const Entry& known) {
    return known.sample.empty() && known.kind == kind;
  };
  std::vector<Archive> open;
  {
    const std::scoped_lock lock(mutex_);
    for (const Entry& known : entries_) {
      if (is_open(known)) open.push_back(known.archive);
    }
  }
  for (const Archive& archive : open) {
    const std::vector<std::byte> sample = sample_of(kind, restore(*archive));
    const std::scoped_lock lock(mutex_);
    for (Entry& known : entries_) {
      if (is_open(known) && known.archive == archive) known.sample = sample;
    }
  }
}

std::vector<RememberedArchives::Archive> RememberedArchives::nearest(const FieldKind& kind,
                                                                     Bytes values,
                                                                     const FillValues& fills,
                                                                     const Restore& restore) {
  complete(kind, restore);
  struct Candidate {
    Archive archive;
    std::vector<bool> agree;
  };
  const std::vector<std::byte> sample = sample_of(kind, values);
  std::vector<Candidate> candidates;
  {
    const std::scoped_lock lock(mutex_);
    for (const Entry& known : entries_) {
      if (known.kind != kind || known.sample.empty()) continue;
      std::vector<bool> agree = agreement(known.sample, sample, size_of(kind.dtype));
      if (std::ranges::count(agree, true) == 0) continue;
      candidates.push_back({known.archive, std::move(agree)});
    }
  }
  // Greedy: best cover of the values not yet covered, with ties.
  std::vector<bool> open = presence(kind, fills, sample);
  std::vector<Archive> found;
  while (found.size() < most_nearest) {
    const auto gain = [&](const Candidate& candidate) {
      std::size_t count = 0;
      for (std::size_t i = 0; i < open.size(); ++i) count += open[i] && candidate.agree[i] ? 1 : 0;
      return count;
    };
    std::vector<std::size_t> gains;
    std::ranges::transform(candidates, std::back_inserter(gains), gain);
    const std::size_t most = gains.empty() ? 0 : *std::ranges::max_element(gains);
    if (most == 0 && found.empty() && !candidates.empty()) {
      found.push_back(candidates.front().archive);  // agrees in missing values
    }
    if (most == 0) break;
    for (std::size_t i = 0; i < gains.size() && found.size() < most_nearest; ++i) {
      if (gains[i] != most) continue;
      found.push_back(candidates[i].archive);
      for (std::size_t at = 0; at < open.size(); ++at) {
        if (candidates[i].agree[at]) open[at] = false;
      }
    }
  }
  return found;
}

}  // namespace cuszi
