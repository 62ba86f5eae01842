#include "core/archive/archive_draft.hpp"

#include <cstring>

#include "tests/support/catch.hpp"

namespace cuszi::test {

namespace {

ArchiveHeader drafted_header(DType dtype) {
  ArchiveHeader header;
  header.dtype = dtype;
  header.mode = ErrorMode::absolute;
  header.bound_asked = 0.25;
  header.bound_absolute = 0.25;
  header.plan = {Dims{3, 50, 70, 9}, 0, 3};
  return header;
}

FrameHeader drafted_frame(FrameKind kind, std::vector<SectionEntry> sections) {
  FrameHeader frame;
  frame.kind = kind;
  frame.min = -1.5;
  frame.max = 1e30;
  frame.levels.emplace_back();
  frame.levels.front().sections = std::move(sections);
  frame.levels.front().hash = 0x123456789ABCDEFU;
  return frame;
}

template <class T>
void put(std::vector<std::byte>& bytes, std::size_t at, T number) {
  std::memcpy(bytes.data() + at, &number, sizeof number);
}

/// A draft of a table whose gaps are filled in.
std::vector<std::byte> filled(const ArchiveDraft& draft, const DraftBytes& form,
                              const FrameHeader& frame, std::optional<ByteCount> code_bytes) {
  std::vector<std::byte> table(form.bytes, form.bytes + form.size);
  const std::size_t hash = form.size - ArchiveDraft::payload_hash_before_end;
  put(table, draft.min_at, frame.min);
  put(table, draft.min_at + sizeof(double), frame.max);
  put(table, hash, frame.levels.front().hash);
  if (code_bytes) {
    put(table, draft.half_step_at, std::get<TilesParams>(*frame.predictor).half_step);
    write_varint(*code_bytes, table.data() + hash - varint_bytes(*code_bytes));
  }
  const Bytes body = Bytes(table).subspan(frame_prefix_bytes);
  put(table, form.size - ArchiveDraft::hash_bytes,
      block_hash(body.first(body.size() - ArchiveDraft::hash_bytes)));
  return table;
}

}  // namespace

TEST_CASE("drafts become headers, tables and footers of archives", "[archive]") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const ArchiveHeader header = drafted_header(dtype);
    const ArchiveDraft draft = ArchiveDraft::of(header);
    const ByteCount index_bytes = draft.index_bytes;
    const std::vector<std::byte> written = write_archive_header(header);
    CHECK(std::equal(written.begin(), written.end(), draft.header.bytes,
                     draft.header.bytes + draft.header.size));
    CHECK(static_cast<ErrorMode>(draft.header.bytes[draft.mode_at]) == header.mode);
    CHECK(draft.value_bytes == 3 * 50 * 70 * 9 * size_of(dtype));

    for (const ByteCount code_bytes : {0U, 4U, 127U, 128U, 16384U, 5000000U, 300000000U}) {
      FrameHeader frame = drafted_frame(
          FrameKind::coded,
          {{SectionId::index, index_bytes, 0, {}, 0}, {SectionId::codes, code_bytes, 0, {}, 0}});
      frame.predictor = TilesParams{0.125};
      frame.coder = NoCoderParams{};
      const DraftBytes& form = draft.coded[varint_bytes(code_bytes) - 1];
      CHECK(filled(draft, form, frame, code_bytes) == write_frame_header(frame));

      std::vector<std::byte> footer(draft.footer[varint_bytes(code_bytes) - 1].bytes,
                                    draft.footer[varint_bytes(code_bytes) - 1].bytes +
                                        draft.footer[varint_bytes(code_bytes) - 1].size);
      write_varint(code_bytes, footer.data());
      put(footer, varint_bytes(code_bytes),
          block_hash(Bytes(footer).first(varint_bytes(code_bytes))));
      CHECK(footer == write_archive_footer({code_bytes}));
    }
    const FrameHeader stored =
        drafted_frame(FrameKind::stored, {{SectionId::raw, draft.value_bytes, 0, {}, 0}});
    CHECK(filled(draft, draft.stored, stored, {}) == write_frame_header(stored));
    CHECK(draft.constant_bytes == size_of(dtype));
    const FrameHeader constant =
        drafted_frame(FrameKind::constant, {{SectionId::raw, draft.constant_bytes, 0, {}, 0}});
    CHECK(filled(draft, draft.constant, constant, {}) == write_frame_header(constant));
    for (const auto& [form, kind] : {std::pair(&draft.stored, FrameKind::stored),
                                     std::pair(&draft.constant, FrameKind::constant),
                                     std::pair(&draft.coded[2], FrameKind::coded)}) {
      CHECK(static_cast<FrameKind>(form->bytes[ArchiveDraft::kind_at]) == kind);
    }
  }
}

}  // namespace cuszi::test
