#include "bindings/hdf5/hdf5_caller.hpp"

#include <dlfcn.h>

#include <type_traits>

namespace cuszi::hdf5 {

bool Caller::find(const void* return_address) {
  Dl_info found{};
  if (::dladdr(return_address, &found) == 0) return false;
  void* library = ::dlopen(found.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) library = ::dlopen(nullptr, RTLD_LAZY);  // linked into the program
  bool complete = library != nullptr;
  const auto look_up = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
        complete ? ::dlsym(library, name) : nullptr);
    complete = complete && function != nullptr;
  };
  look_up(type_class, "H5Tget_class");
  look_up(type_precision, "H5Tget_precision");
  look_up(type_offset, "H5Tget_offset");
  look_up(type_fields, "H5Tget_fields");
  look_up(type_bias, "H5Tget_ebias");
  look_up(type_norm, "H5Tget_norm");
  look_up(type_size, "H5Tget_size");
  look_up(type_order, "H5Tget_order");
  look_up(type_sign, "H5Tget_sign");
  look_up(chunk, "H5Pget_chunk");
  look_up(filter_at, "H5Pget_filter2");
  look_up(filter, "H5Pget_filter_by_id2");
  look_up(modify_filter, "H5Pmodify_filter");
  look_up(fill_defined, "H5Pfill_value_defined");
  look_up(fill_value, "H5Pget_fill_value");
  look_up(allocate, "H5allocate_memory");
  look_up(release, "H5free_memory");
  look_up(push_error, "H5Epush2");
  look_up(error_class, "H5E_ERR_CLS_g");
  look_up(error_major, "H5E_PLINE_g");
  look_up(error_minor, "H5E_CANTFILTER_g");
  if (library != nullptr) ::dlclose(library);  // its caller keeps it loaded
  return complete;
}

void Caller::tell(const char* reason) const {
  if (push_error == nullptr || error_minor == nullptr || *error_class <= 0) return;
  push_error(H5E_DEFAULT, "h5cuszi", "cuszi", 0, *error_class, *error_major, *error_minor, "%s",
             reason);
}

}  // namespace cuszi::hdf5
