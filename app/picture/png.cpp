#include <fmt/format.h>
#include <png.h>

#include "app/picture/formats.hpp"
#include "core/base/error.hpp"

namespace cuszi::app {

namespace {

/// Throws unless libpng has said that all is well.
void require(bool done, const png_image& image) {
  if (!done) throw OutputError(fmt::format("the picture cannot be made: {}", image.message));
}

}  // namespace

std::string png_of(const Picture& picture) {
  const std::vector<Rgb> colours = palette();
  std::vector<png_byte> colour_map;
  for (const Rgb& colour : colours) {
    colour_map.insert(colour_map.end(), {colour.red, colour.green, colour.blue});
  }
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(picture.width);
  image.height = static_cast<png_uint_32>(picture.height);
  image.format = PNG_FORMAT_RGB_COLORMAP;
  image.colormap_entries = static_cast<png_uint_32>(colours.size());
  const auto write = [&](void* memory, png_alloc_size_t& bytes) {
    constexpr int eight_bits = 0;
    constexpr png_int_32 packed_rows = 0;
    require(png_image_write_to_memory(&image, memory, &bytes, eight_bits, picture.pixels.data(),
                                      packed_rows, colour_map.data()) != 0,
            image);
  };
  png_alloc_size_t bytes = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::string file(bytes, '\0');
  write(file.data(), bytes);
  file.resize(bytes);
  return file;
}

}  // namespace cuszi::app
