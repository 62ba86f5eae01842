#include "cpu_ref/transform/transform.hpp"

#include <algorithm>

#include "cpu_ref/base/parallel.hpp"

namespace cuszi::cpu {

namespace {

constexpr std::uint64_t word_points = 64;
constexpr std::uint64_t block_words = 1024;

/// Calls each(word, first, end) for each 64 points.
template <class Each>
void for_each_word(std::uint64_t points, const Each& each) {
  const std::uint64_t words = ceil_div(points, word_points);
  parallel_for(ceil_div(words, block_words), [&](std::uint64_t block) {
    const std::uint64_t end = std::min(words, (block + 1) * block_words);
    for (std::uint64_t word = block * block_words; word < end; ++word) {
      each(word, word * word_points, std::min(points, (word + 1) * word_points));
    }
  });
}

}  // namespace

template <class T>
std::vector<std::uint64_t> transform_values(const TransformChoice& choice, const ValueBound& bound,
                                            const FillValues& fills, const RestoreRules<T>& rules,
                                            std::span<const T> values, std::span<T> out) {
  std::vector<std::uint64_t> negative(ceil_div(values.size(), word_points));
  std::visit(
      [&]<class Params>(const Params& params) {
        const PointTransform<T, Params> transform(params, choice, bound, fills, rules);
        for_each_word(values.size(),
                      [&](std::uint64_t word, std::uint64_t first, std::uint64_t end) {
                        for (std::uint64_t i = first; i < end; ++i) {
                          const Transformed<T> point = transform(values[i]);
                          out[i] = point.value;
                          negative[word] |= std::uint64_t{point.is_negative} << (i - first);
                        }
                      });
      },
      choice.params);
  return negative;
}

template <class T>
void restore_values(const TransformTarget& target, std::span<T> values) {
  const std::span<const std::uint64_t> negative = target.negative;
  const std::uint64_t alike = target.all_negative() ? ~std::uint64_t{0} : 0;
  std::visit(
      [&]<class Params>(const Params& params) {
        const PointRestorer<T, Params> restorer(params, target);
        for_each_word(values.size(),
                      [&](std::uint64_t word, std::uint64_t first, std::uint64_t end) {
                        const std::uint64_t signs = negative.empty() ? alike : negative[word];
                        for (std::uint64_t i = first; i < end; ++i) {
                          values[i] = restorer(values[i], ((signs >> (i - first)) & 1) != 0);
                        }
                      });
      },
      target.transform.params);
}

template std::vector<std::uint64_t> transform_values(const TransformChoice&, const ValueBound&,
                                                     const FillValues&, const RestoreRules<float>&,
                                                     std::span<const float>, std::span<float>);
template std::vector<std::uint64_t> transform_values(const TransformChoice&, const ValueBound&,
                                                     const FillValues&, const RestoreRules<double>&,
                                                     std::span<const double>, std::span<double>);
template void restore_values(const TransformTarget&, std::span<float>);
template void restore_values(const TransformTarget&, std::span<double>);

}  // namespace cuszi::cpu
