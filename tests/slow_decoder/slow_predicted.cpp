#include "core/lossless/predicted.hpp"
#include "tests/slow_decoder/slow_frame.hpp"
#include "tests/slow_decoder/slow_segment.hpp"

namespace cuszi::slow {

namespace {

/// A block of the frame: its points in their order, and its class.
struct SlowBlock {
  std::vector<std::uint64_t> points;
  std::uint32_t number = 0;
};

/// The points of boxes of this size within one, in raster order.
std::vector<WordBox> boxes_in(const WordBox& whole, const Extents3& part) {
  std::vector<WordBox> boxes;
  for_each_block(whole.size, part, [&](const Extents3& at, const Extents3& size) {
    boxes.push_back(
        {{whole.first[0] + at[0], whole.first[1] + at[1], whole.first[2] + at[2]}, size});
  });
  return boxes;
}
std::vector<std::uint64_t> points_of(const WordBox& box, const Extents3& extents) {
  std::vector<std::uint64_t> points;
  for (std::uint64_t z = box.first[0]; z < box.first[0] + box.size[0]; ++z)
    for (std::uint64_t y = box.first[1]; y < box.first[1] + box.size[1]; ++y)
      for (std::uint64_t x = box.first[2]; x < box.first[2] + box.size[2]; ++x)
        points.push_back((z * extents[1] + y) * extents[2] + x);
  return points;
}

void read_classes(ByteReader& index, Bytes section, const WordTables& tables,
                  std::vector<SlowBlock>& blocks) {
  ByteReader in(section, "the classes");
  for (std::size_t first = 0; first < blocks.size(); first += 32 * blocks_of_class_lane) {
    const std::size_t left = blocks.size() - first;
    const std::size_t lanes = std::min<std::size_t>(ceil_div(left, blocks_of_class_lane), 32);
    SlowSegment segment(in.take(index.get<std::uint32_t>()), lanes);
    for (std::size_t step = 0; step < blocks_of_class_lane; ++step)
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const std::size_t block = first + lane * blocks_of_class_lane + step;
        if (block >= blocks.size()) break;
        const std::uint32_t before = step == 0 ? 0 : blocks[block - 1].number;
        blocks[block].number = segment.take_symbol(lane, tables.classes[before]);
      }
    segment.check_end();
  }
  in.expect_end();
}

/// The lowest bits first.
class SlowRawBits {
 public:
  explicit SlowRawBits(Bytes bytes) : bytes_(bytes) {}
  std::uint64_t take(unsigned bits) {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < bits; ++i, ++at_)
      value |= (static_cast<std::uint64_t>(bytes_[at_ / 8]) >> (at_ % 8) & 1) << i;
    return value;
  }

 private:
  Bytes bytes_;
  std::size_t at_ = 0;
};

template <class Word>
void read_words(ByteReader& index, Bytes codes, Bytes raw_bits, const WordHead<Word>& head,
                const std::vector<SlowBlock>& blocks, std::vector<Word>& words) {
  std::vector<const SlowBlock*> live;
  for (const SlowBlock& block : blocks)
    if (block.number != 0) live.push_back(&block);
  ByteReader in(codes, "the codes");
  ByteReader raw_in(raw_bits, "the raw bits");
  const std::size_t most = std::size_t{32} * head.blocks_of_lane;
  const std::size_t segments = ceil_div(live.size(), most);
  ByteReader raw_index = index;
  raw_index.take(4 * segments);
  for (std::size_t first = 0; first < live.size(); first += most) {
    const std::size_t count = std::min(most, live.size() - first);
    SlowSegment segment(in.take(index.get<std::uint32_t>()), std::min<std::size_t>(count, 32));
    std::vector<std::vector<std::uint32_t>> tokens(count);
    for (std::size_t round = 0; round < count; round += 32)
      for (std::size_t i = 0; i < word_block; ++i)
        for (std::size_t block = round; block < std::min(round + 32, count); ++block)
          if (i < live[first + block]->points.size())
            tokens[block].push_back(segment.take_symbol(
                block - round, head.tables.tokens[live[first + block]->number]));
    segment.check_end();
    SlowRawBits raw(raw_in.take(raw_index.get<std::uint32_t>()));
    for (std::size_t block = 0; block < count; ++block)
      for (std::size_t i = 0; i < tokens[block].size(); ++i) {
        const SlowBlock& own = *live[first + block];
        const WordTokenForm form = form_of_token(tokens[block][i], octave_of_class(own.number));
        const std::uint64_t bits = raw.take(form.raw_bits);
        const std::uint64_t magnitude = form.least + (form.has_sign ? bits : bits >> 1);
        const bool is_negative = form.has_sign ? form.is_negative : (bits & 1) != 0;
        words[own.points[i]] = signed_word(static_cast<Word>(magnitude), is_negative)
                               << head.map.shift();
      }
  }
  in.expect_end();
  raw_in.expect_end();
  index = raw_index;
}

}  // namespace

template <class T>
void restore_predicted(SlowFrame<T>& frame) {
  using Word = BitsOf<T>;
  const Sections& sections = frame.passes.front();
  const auto head = WordHead<Word>::read(sections.at(SectionId::codebook), frame.extents);
  std::vector<SlowBlock> blocks;
  const std::vector<WordBox> chunks = boxes_in({{}, frame.extents}, head.chunk);
  for (const WordBox& chunk : chunks)
    for (const WordBox& block : boxes_in(chunk, WordGrid::block_of_rank(rank_of(frame.extents))))
      blocks.push_back({points_of(block, frame.extents), 0});
  std::vector<Word> words(frame.values.size());
  ByteReader index(sections.at(SectionId::index), "the index");
  read_classes(index, sections.at(SectionId::contexts), head.tables, blocks);
  read_words(index, sections.find(SectionId::codes), sections.find(SectionId::raw), head, blocks,
             words);
  index.expect_end();
  const Extents3 strides{frame.extents[1] * frame.extents[2], frame.extents[2], 1};
  for (const WordBox& chunk : chunks) {
    const std::vector<std::uint64_t> points = points_of(chunk, frame.extents);
    for (std::size_t axis = 0; axis < 3; ++axis)
      for (int order = 0; order < head.orders[axis]; ++order)
        for (const std::uint64_t point : points)
          if (point / strides[axis] % frame.extents[axis] != chunk.first[axis])
            words[point] += words[point - strides[axis]];
  }
  for (std::size_t i = 0; i < words.size(); ++i)
    frame.values[i] = std::bit_cast<T>(head.map.bits_of(words[i]));
}

template void restore_predicted(SlowFrame<float>&);
template void restore_predicted(SlowFrame<double>&);

}  // namespace cuszi::slow
