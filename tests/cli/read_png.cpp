// Reads a picture from standard input by libpng: prints its width and height and how many colours
// its palette has in a line, then the red, green and blue of each pixel as bytes.

#include <png.h>

#include <cstdio>
#include <vector>

int main() {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  bool is_read = png_image_begin_read_from_stdio(&image, stdin) != 0;
  const unsigned colours = image.colormap_entries;
  image.format = PNG_FORMAT_RGB;
  std::vector<unsigned char> pixels(is_read ? PNG_IMAGE_SIZE(image) : 0);
  is_read = is_read && png_image_finish_read(&image, nullptr, pixels.data(), 0, nullptr) != 0;
  if (!is_read || image.warning_or_error != 0) {
    std::fprintf(stderr, "read_png: %s\n", image.message);
    return 1;
  }
  std::printf("%u %u %u\n", image.width, image.height, colours);
  return std::fwrite(pixels.data(), 1, pixels.size(), stdout) == pixels.size() ? 0 : 1;
}
