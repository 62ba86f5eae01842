#pragma once

#include <H5Epublic.h>
#include <H5Ppublic.h>
#include <H5Tpublic.h>
#include <H5public.h>

namespace cuszi::hdf5 {

/// Functions of the calling HDF5 library: a process can hold several (one per Python wheel) with
/// incompatible identifiers. Variables may be null, if the program is not position-independent.
struct Caller {
  decltype(&::H5Tget_class) type_class = nullptr;
  decltype(&::H5Tget_precision) type_precision = nullptr;
  decltype(&::H5Tget_offset) type_offset = nullptr;
  decltype(&::H5Tget_fields) type_fields = nullptr;
  decltype(&::H5Tget_ebias) type_bias = nullptr;
  decltype(&::H5Tget_norm) type_norm = nullptr;
  decltype(&::H5Tget_size) type_size = nullptr;
  decltype(&::H5Tget_order) type_order = nullptr;
  decltype(&::H5Tget_sign) type_sign = nullptr;
  decltype(&::H5Pget_chunk) chunk = nullptr;
  decltype(&::H5Pget_filter2) filter_at = nullptr;
  decltype(&::H5Pget_filter_by_id2) filter = nullptr;
  decltype(&::H5Pmodify_filter) modify_filter = nullptr;
  decltype(&::H5Pfill_value_defined) fill_defined = nullptr;
  decltype(&::H5Pget_fill_value) fill_value = nullptr;
  decltype(&::H5allocate_memory) allocate = nullptr;
  decltype(&::H5free_memory) release = nullptr;
  decltype(&::H5Epush2) push_error = nullptr;
  const hid_t* error_class = nullptr;
  const hid_t* error_major = nullptr;  ///< of the pipeline
  const hid_t* error_minor = nullptr;  ///< of a filter

  /// Pushes a reason on HDF5's error stack.
  void tell(const char* reason) const;

  /// Looks up the functions in the library that contains `return_address`. False if one is missing.
  bool find(const void* return_address);
};

}  // namespace cuszi::hdf5
