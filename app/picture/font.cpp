#include "app/picture/font.hpp"

namespace cuszi::app {

namespace {

constexpr unsigned char first_character = ' ';
constexpr Glyph unknown_glyph = 0xfc6318c7e0;  // a frame

/// The characters of ASCII from the space on.
constexpr std::array<Glyph, 95> glyphs{
    // clang-format off
    0x0000000000, 0x2108420080, 0x5294000000, 0x52beafa940, 0x23e8e2f880,  //  !"#$
    0xc644444c60, 0x64a88ac9a0, 0x2108000000, 0x1110841040, 0x4104211100,  // %&'()
    0x012aea9000, 0x0109f21000, 0x0000003088, 0x0001f00000, 0x0000003180,  // *+,-.
    0x0044444000, 0x74675cc5c0, 0x23084211c0, 0x74422223e0, 0xf88820c5c0,  // /0123
    0x11952f8840, 0xfc3c10c5c0, 0x3221e8c5c0, 0xf844442100, 0x7462e8c5c0,  // 45678
    0x7462f08980, 0x0318063000, 0x0318003088, 0x1111041040, 0x003e0f8000,  // 9:;<=
    0x4104111100, 0x7442220080, 0x7442dad5c0, 0x74631fc620, 0xf463e8c7c0,  // >?@AB
    0x74610845c0, 0xe4a318cb80, 0xfc21e843e0, 0xfc21e84200, 0x746178c5e0,  // CDEFG
    0x8c63f8c620, 0x71084211c0, 0x3884214980, 0x8ca98a4a20, 0x84210843e0,  // HIJKL
    0x8eeb58c620, 0x8c7359c620, 0x746318c5c0, 0xf463e84200, 0x74631ac9a0,  // MNOPQ
    0xf463ea4a20, 0x7c20e087c0, 0xf908421080, 0x8c6318c5c0, 0x8c6318a880,  // RSTUV
    0x8c635ad540, 0x8c54454620, 0x8c62a21080, 0xf8444443e0, 0x72108421c0,  // WXYZ[
    0x0410410400, 0x70842109c0, 0x22a2000000, 0x00000003e0, 0x4104000000,  // \]^_`
    0x001c17c5e0, 0x842d98c7c0, 0x001d0845c0, 0x085b38c5e0, 0x001d1fc1c0,  // abcde
    0x3251c42100, 0x001f18bc2e, 0x842d98c620, 0x20184211c0, 0x100c210a4c,  // fghij
    0x84254c5240, 0x61084211c0, 0x00355ac620, 0x002d98c620, 0x001d18c5c0,  // klmno
    0x003d18fa10, 0x001f18bc21, 0x002d984200, 0x001d0707c0, 0x42388424c0,  // pqrst
    0x002318cda0, 0x002318a880, 0x00231ad540, 0x0022a22a20, 0x002318bc2e,  // uvwxy
    0x003e2223e0, 0x1108821040, 0x2108421080, 0x4108221100, 0x0011510000,  // z{|}~
    // clang-format on
};

}  // namespace

Glyph glyph_of(char character) {
  const std::size_t place = static_cast<unsigned char>(character) - first_character;
  return place < glyphs.size() ? glyphs.at(place) : unknown_glyph;
}

}  // namespace cuszi::app
