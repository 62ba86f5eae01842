#include "core/coders/huffman.hpp"

#include <algorithm>
#include <bit>

#include "core/field/chunk_index.hpp"

namespace cuszi {

namespace {

constexpr std::uint32_t max_chunk = 1U << 20;

/// A byte up to 63 is the next symbol's length; a larger one repeats the previous length (initially
/// 0) byte - 63 times.
constexpr std::uint8_t first_repeat = 64;
constexpr std::size_t max_repeat = 255 - first_repeat + 1;

}  // namespace

void HuffmanParams::write(ByteWriter& out) const {
  out.put(static_cast<std::uint8_t>(std::countr_zero(chunk)));
  write_index_params(index, partition, out);
}

HuffmanParams HuffmanParams::read(ByteReader& in) {
  HuffmanParams params;
  const auto log_chunk = in.get<std::uint8_t>();
  if (log_chunk > std::countr_zero(max_chunk)) {
    throw ArchiveError("the Huffman coder has chunks of 2^" + std::to_string(log_chunk) +
                       " symbols; at most 2^20 are possible");
  }
  params.chunk = 1U << log_chunk;
  read_index_params(in, params.index, params.partition);
  return params;
}

std::vector<std::uint8_t> code_lengths(std::span<const std::uint64_t> histogram) {
  std::vector<std::uint32_t> leaves;
  for (std::uint32_t symbol = 0; symbol < histogram.size(); ++symbol) {
    if (histogram[symbol] != 0) leaves.push_back(symbol);
  }
  std::stable_sort(leaves.begin(), leaves.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return histogram[a] < histogram[b]; });
  std::vector<std::uint8_t> lengths(histogram.size(), 0);
  if (leaves.size() == 1) lengths[leaves[0]] = 1;
  if (leaves.size() < 2) return lengths;

  // Nodes 0..n-1 are the sorted leaves; inner nodes follow in order of creation, ascending by
  // weight: both queues are ranges of one array.
  const std::size_t n = leaves.size();
  std::vector<std::uint64_t> weight(2 * n - 1);
  std::vector<std::uint32_t> parent(2 * n - 1, 0);
  for (std::size_t i = 0; i < n; ++i) weight[i] = histogram[leaves[i]];
  std::size_t leaf = 0;
  std::size_t inner = n;
  for (std::size_t made = n; made < 2 * n - 1; ++made) {
    for (int child = 0; child < 2; ++child) {
      const bool take_leaf = leaf < n && (inner == made || weight[leaf] <= weight[inner]);
      const std::size_t node = take_leaf ? leaf++ : inner++;
      weight[made] += weight[node];
      parent[node] = static_cast<std::uint32_t>(made);
    }
  }
  std::vector<std::uint8_t> depth(2 * n - 1, 0);
  for (std::size_t node = 2 * n - 2; node-- > 0;) {
    depth[node] = static_cast<std::uint8_t>(depth[parent[node]] + 1);
    if (node < n) lengths[leaves[node]] = depth[node];
  }
  return lengths;
}

CanonicalCode::CanonicalCode(std::span<const std::uint8_t> lengths) {
  for (const std::uint8_t length : lengths) {
    if (length > max_code_length) {
      throw ArchiveError("a codeword of " + std::to_string(length) + " bits; at most " +
                         std::to_string(max_code_length) + " are possible");
    }
    ++count[length];
  }
  count[0] = 0;
  std::uint64_t code = 0;
  std::uint32_t index = 0;
  for (std::size_t length = 1; length <= max_code_length; ++length) {
    code <<= 1;
    first_code[length] = code;
    first_index[length] = index;
    code += count[length];
    index += count[length];
    if (code > (std::uint64_t{1} << length)) throw ArchiveError("the codebook has too many codes");
    if (count[length] != 0) longest = static_cast<int>(length);
  }
  const bool complete = code == (std::uint64_t{1} << max_code_length);
  if (!complete && !(index == 1 && longest == 1)) {
    throw ArchiveError("the codebook is not a complete prefix code");
  }
  symbols.resize(index);
  auto next = first_index;
  for (std::size_t symbol = 0; symbol < lengths.size(); ++symbol) {
    if (lengths[symbol] != 0) symbols[next[lengths[symbol]]++] = static_cast<QuantCode>(symbol);
  }
}

template <class Unit>
std::vector<Unit> codewords(std::span<const std::uint8_t> lengths) {
  const CanonicalCode code(lengths);
  if (code.longest > Codeword<Unit>::code_bits) {
    throw UsageError("the longest codeword has " + std::to_string(code.longest) +
                         " bits and at most " + std::to_string(Codeword<Unit>::code_bits) +
                         " fit a unit of " + std::to_string(8 * sizeof(Unit)),
                     Setting::huffman_width);
  }
  std::vector<Unit> units(lengths.size(), 0);
  for (int length = 1; length <= code.longest; ++length) {
    const auto l = static_cast<std::size_t>(length);
    for (std::uint32_t i = 0; i < code.count[l]; ++i) {
      units[code.symbols[code.first_index[l] + i]] =
          Codeword<Unit>::pack(code.first_code[l] + i, length);
    }
  }
  return units;
}

template std::vector<std::uint32_t> codewords(std::span<const std::uint8_t>);
template std::vector<std::uint64_t> codewords(std::span<const std::uint8_t>);

std::vector<std::byte> write_lengths(std::span<const std::uint8_t> lengths) {
  const auto used = [](std::uint8_t length) { return length != 0; };
  const auto first = std::find_if(lengths.begin(), lengths.end(), used);
  const auto last = std::find_if(lengths.rbegin(), lengths.rend(), used).base();
  ByteWriter out;
  out.varint(static_cast<std::uint64_t>(first - lengths.begin()));
  out.varint(static_cast<std::uint64_t>(last - std::min(first, last)));
  std::uint8_t before = 0;
  for (auto at = first; at < last;) {
    const auto end = std::find_if(at, last, [&](std::uint8_t length) { return length != before; });
    auto repeats = static_cast<std::size_t>(end - at);
    for (; repeats > 0; repeats -= std::min(repeats, max_repeat)) {
      const std::size_t run = std::min(repeats, max_repeat);
      out.put(static_cast<std::uint8_t>(first_repeat + run - 1));
    }
    at = end;
    if (at == last) break;
    before = *at++;
    out.put(before);
  }
  return out.take();
}

std::vector<std::byte> empty_codebook() {
  return write_lengths(std::vector<std::uint8_t>(huffman_alphabet));
}

std::vector<std::uint8_t> read_lengths(Bytes bytes, std::size_t symbols) {
  ByteReader in(bytes, "the codebook");
  const std::uint64_t first = in.varint();
  const std::uint64_t used = in.varint();
  if (first > symbols || used > symbols - first) {
    throw ArchiveError("the codebook has symbols beyond the radius");
  }
  std::vector<std::uint8_t> lengths(first + used, 0);
  std::uint8_t before = 0;
  for (std::uint64_t at = first; at < first + used;) {
    const auto token = in.get<std::uint8_t>();
    if (token < first_repeat) {
      lengths[at++] = before = token;
      continue;
    }
    const std::uint64_t run = token - first_repeat + 1U;
    if (run > first + used - at) throw ArchiveError("the codebook has more lengths than symbols");
    std::fill_n(lengths.begin() + static_cast<std::ptrdiff_t>(at), run, before);
    at += run;
  }
  in.expect_end();
  return lengths;
}

HuffmanDecoder::HuffmanDecoder(const CanonicalCode& code)
    : code_(code), table_(std::size_t{1} << lookup_bits, DecodedSymbol{0, 0}) {
  for (int length = 1; length <= std::min(code.longest, lookup_bits); ++length) {
    const auto l = static_cast<std::size_t>(length);
    const int free_bits = lookup_bits - length;
    for (std::uint32_t i = 0; i < code.count[l]; ++i) {
      const DecodedSymbol entry{code.symbols[code.first_index[l] + i],
                                static_cast<std::uint8_t>(length)};
      const auto at = static_cast<std::ptrdiff_t>((code.first_code[l] + i) << free_bits);
      std::fill_n(table_.begin() + at, std::size_t{1} << free_bits, entry);
    }
  }
  // If there is one symbol, the unused bit pattern decodes as that symbol too.
  if (code.symbols.size() == 1)
    std::fill(table_.begin(), table_.end(), DecodedSymbol{code.symbols[0], 1});
}

DecodedSymbol HuffmanDecoder::decode_long(std::uint64_t window) const {
  const CanonicalCodeView view{code_.first_code.data(), code_.first_index.data(),
                               code_.count.data(), code_.symbols.data(), code_.longest};
  return view.find(window, lookup_bits + 1);
}

}  // namespace cuszi
