#include "codec/archive/archive_members.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "core/base/error.hpp"

namespace cuszi {

namespace {

constexpr ByteCount window_bytes = 4096;  // usually a footer and the next header

/// Keeps the bytes read last, to read few pieces on the way to the front.
class BackwardReader {
 public:
  explicit BackwardReader(const ByteSource& source) : source_(source) {}

  /// Valid until the next call. Throws ArchiveError if they begin before the source.
  Bytes before(ByteCount end, ByteCount size) {
    if (size > end) throw ArchiveError("the archive is truncated");
    if (const Bytes all = source_.view(); !all.empty()) return all.subspan(end - size, size);
    if (end - size < start_ || end > start_ + bytes_.size()) {
      bytes_.resize(std::min(end, std::max(size, window_bytes)));
      start_ = end - bytes_.size();
      if (source_.read_at(start_, bytes_) < bytes_.size()) {
        throw ArchiveError("the archive is truncated");
      }
    }
    return Bytes(bytes_).subspan(end - size - start_, size);
  }

 private:
  const ByteSource& source_;
  std::vector<std::byte> bytes_;
  ByteCount start_ = 0;
};

/// Reads the header that ends where frames begin.
void read_header_before(BackwardReader& source, ArchiveMember& member) {
  const Bytes bytes =
      source.before(member.frames_start, std::min(member.frames_start, most_header_bytes));
  for (ByteCount size = archive_prefix_bytes; size <= bytes.size(); ++size) {
    const Bytes header = bytes.last(size);
    if (!begins_archive(header) || read_archive_prefix(header) != size - archive_prefix_bytes) {
      continue;
    }
    member.start = member.frames_start - size;
    member.header = read_archive_header(header.subspan(archive_prefix_bytes));
    return;
  }
  throw ArchiveError("a member has no header");
}

ArchiveMember member_before(BackwardReader& source, ByteCount end) {
  ArchiveMember member;
  member.end = end;
  const ByteCount footer = read_archive_trailer(source.before(end, archive_trailer_bytes));
  member.frame_bytes = read_archive_footer(source.before(end, footer));
  member.frames_start = end - footer;
  for (const ByteCount size : member.frame_bytes) {
    if (size > member.frames_start) throw ArchiveError("the archive is truncated");
    member.frames_start -= size;
  }
  read_header_before(source, member);
  if (member.header.plan.frames() != member.frame_bytes.size()) {
    throw ArchiveError("the footer does not match the frames");
  }
  return member;
}

bool is_trailer(Bytes bytes) try {
  read_archive_trailer(bytes);
  return true;
} catch (const ArchiveError&) {
  return false;
}

bool stack(const ArchiveHeader& a, const ArchiveHeader& b) {
  const auto extents_behind = [](const ArchiveHeader& header) {
    return header.plan.dims.extents().subspan(1);
  };
  return a.dtype == b.dtype && a.plan.dims.rank() == b.plan.dims.rank() &&
         std::ranges::equal(extents_behind(a), extents_behind(b));
}

std::string text_of(const ArchiveHeader& header) {
  return fmt::format("{} of {}", header.plan.dims.to_string(), name_of(header.dtype));
}

/// Loosens the bound of `all` so that it holds for `more`, too.
void join_bounds(ArchiveHeader& all, const ArchiveHeader& more) {
  const std::array bounds{all.value_bound(), more.value_bound()};
  all.bound_absolute = std::max(all.bound_absolute, more.bound_absolute);
  if (all.mode == more.mode && all.bound_asked == more.bound_asked &&
      all.share_asked == more.share_asked) {
    return;
  }
  double absolute = 0;
  double share = 0;
  for (const ValueBound& bound : bounds) {
    share = std::max(share, bound.share);
    if (bound.kind != ValueBound::Kind::share) absolute = std::max(absolute, bound.bound);
  }
  const bool is_either = share != 0 && absolute != 0;
  all.mode = share == 0      ? ErrorMode::absolute
             : absolute == 0 ? ErrorMode::pointwise
                             : ErrorMode::absolute_or_pointwise;
  all.bound_asked = absolute != 0 ? absolute : share;
  all.share_asked = is_either ? share : 0;
}

FillValues joined_fills(const FillValues& all, const FillValues& more) try {
  return joined(all, more);
} catch (const UsageError& error) {
  throw ArchiveError(std::string("of all members, ") + error.what());
}

}  // namespace

ByteCount ArchiveMember::footer_bytes() const {
  return end - std::accumulate(frame_bytes.begin(), frame_bytes.end(), frames_start);
}

std::vector<ArchiveMember> members_from_end(const ByteSource& source) try {
  BackwardReader reader(source);
  std::vector<ArchiveMember> members;
  for (ByteCount end = source.size().value(); end != 0; end = members.back().start) {
    members.push_back(member_before(reader, end));
  }
  std::ranges::reverse(members);
  return members;
} catch (const ArchiveError&) {
  return {};
}

ArchiveHeader stacked_header(std::span<const ArchiveMember> members) {
  ArchiveHeader all = members.front().header;
  std::vector<FieldCuts> fields;
  for (const ArchiveMember& member : members) {
    if (!stack(members.front().header, member.header)) {
      throw ArchiveError(fmt::format(
          "member {} holds {}, but the first one {}; members of a field have one type, and equal "
          "extents behind the slowest axis",
          fields.size(), text_of(member.header), text_of(members.front().header)));
    }
    join_bounds(all, member.header);
    all.fills = joined_fills(all.fills, member.header.fills);
    fields.push_back(member.header.plan);
  }
  all.plan = FieldCuts::stacked(std::move(fields));
  return all;
}

bool is_unfinished_member(const ByteSource& source, ByteCount start, bool is_cut) {
  const ByteCount bytes = source.size().value() - start;
  std::array<std::byte, archive_prefix_bytes> first{};
  std::array<std::byte, archive_trailer_bytes> last{};
  const Bytes begin = Bytes(first).first(source.read_at(start, first));
  const auto are_zeros = [](Bytes some) {
    return std::ranges::all_of(some, [](std::byte byte) { return byte == std::byte{0}; });
  };
  const bool is_short = bytes < archive_prefix_bytes;
  if (!is_short) source.read_at(start + bytes - last.size(), last);
  const bool ends_in_zeros = !is_short && are_zeros(last);
  if (may_begin_archive(begin)) {
    return is_short || ends_in_zeros || (is_cut && !is_trailer(last));
  }
  if (ends_in_zeros && are_zeros(begin)) return true;
  throw ArchiveError("unknown bytes follow the archive");
}

}  // namespace cuszi
