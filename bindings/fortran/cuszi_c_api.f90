!> Constants, structs and functions of cuszi.h. Programs use the module cuszi.
module cuszi_c_api
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_int, c_int32_t, c_int64_t, c_null_char, &
                                         c_null_ptr, c_ptr, c_size_t
  implicit none
  public

  !> cuszi_status
  integer, parameter :: cuszi_ok = 0, cuszi_bad_usage = 1, cuszi_bad_input = 2, cuszi_bad_archive = 3, &
                        cuszi_bad_bound = 4, cuszi_no_device = 5, cuszi_no_room = 6, &
                        cuszi_no_memory = 7, cuszi_internal = 8
  integer, parameter :: cuszi_max_rank = 4, cuszi_max_fills = 16, &
      cuszi_max_isovalues = 15, cuszi_max_regions = 16
  !> Types of values; Fortran has none for halves, bfloat16 and unsigned integers.
  integer(c_int32_t), parameter :: cuszi_f32 = 0, cuszi_f64 = 1, cuszi_f16 = 2, cuszi_bf16 = 3, cuszi_i8 = 4, cuszi_u8 = 5, &
                                   cuszi_i16 = 6, cuszi_u16 = 7, cuszi_i32 = 8, cuszi_u32 = 9, cuszi_i64 = 10, cuszi_u64 = 11
  !> Modes of a bound.
  integer(c_int32_t), parameter :: cuszi_rel = 0, cuszi_abs = 1, cuszi_psnr = 2, cuszi_ratio = 3, &
                                   cuszi_pwrel = 4, cuszi_abs_or_pwrel = 5, cuszi_abs_and_pwrel = 6
  !> Devices.
  integer(c_int32_t), parameter :: cuszi_device_auto = 0, cuszi_device_cpu = 1, cuszi_device_cuda = 2

  type, bind(C) :: cuszi_c_field
    integer(c_int32_t) :: dtype = cuszi_f32
    integer(c_int32_t) :: rank = 0
    integer(c_int64_t) :: dims(cuszi_max_rank) = 0  ! slowest first
  end type cuszi_c_field

  !> A box with its own bound; axes as in C.
  type, bind(C) :: cuszi_region
    integer(c_int64_t) :: first(cuszi_max_rank) = 0
    integer(c_int64_t) :: end(cuszi_max_rank) = -1  ! UINT64_MAX: open
    real(c_double) :: bound = 0
  end type cuszi_region

  !> See cuszi.h. 0 is the default. Axis 0 is the slowest, a Fortran array's last.
  type, bind(C) :: cuszi_options
    integer(c_int32_t) :: size = 0  ! set by the library
    integer(c_int32_t) :: version = 1

    real(c_double) :: bound = 0
    integer(c_int32_t) :: mode = cuszi_rel
    integer(c_int32_t) :: preset = 0

    real(c_double) :: range_min = 0
    real(c_double) :: range_max = 0
    integer(c_int32_t) :: has_range = 0
    integer(c_int32_t) :: fill_count = 0
    type(c_ptr) :: fills = c_null_ptr
    integer(c_int64_t) :: frame_bytes = 0

    integer(c_int32_t) :: device = cuszi_device_auto
    integer(c_int32_t) :: device_index = 0
    type(c_ptr) :: stream = c_null_ptr
    integer(c_int32_t) :: threads = 0

    integer(c_int32_t) :: predictor = 0
    integer(c_int32_t) :: coder = 0
    integer(c_int32_t) :: lossless = 0
    integer(c_int32_t) :: radius = 0

    integer(c_int32_t) :: effort = 0
    integer(c_int32_t) :: axes = 0
    integer(c_int32_t) :: axis = 0
    integer(c_int32_t) :: reach = 0
    real(c_double) :: alpha = 0
    real(c_double) :: beta = 0

    integer(c_int64_t) :: interp_tile(3) = 0
    real(c_double) :: interp_alpha = 0
    integer(c_int32_t) :: interp_anchor = 0
    integer(c_int32_t) :: interp_cubic = 0
    character(c_char) :: interp_order(4) = c_null_char

    integer(c_int32_t) :: index = 0
    integer(c_int32_t) :: chunk = 0
    integer(c_int32_t) :: partition = 0
    integer(c_int32_t) :: huffman_width = 0
    integer(c_int32_t) :: verify = 0

    integer(c_int32_t) :: zfp_mode = 0
    integer(c_int32_t) :: zfp_chunk = 0
    real(c_double) :: zfp_amount = 0

    integer(c_int32_t) :: strict = 0
    integer(c_int32_t) :: more_fill_count = 0

    integer(c_int64_t) :: memory_limit = 0

    real(c_double) :: more_fills(cuszi_max_fills) = 0

    real(c_double) :: isovalues(cuszi_max_isovalues) = 0
    integer(c_int32_t) :: isovalue_count = 0
    integer(c_int32_t) :: keep_sign = 0

    type(cuszi_region) :: regions(cuszi_max_regions)
    integer(c_int32_t) :: region_count = 0
    integer(c_int32_t) :: remember = 0
    type(c_ptr) :: bound_field = c_null_ptr
    integer(c_int64_t) :: bound_count = 0
    integer(c_int64_t) :: bound_blocks(cuszi_max_rank) = 0

    real(c_double) :: pw = 0
    integer(c_int64_t) :: devices = 0

    real(c_double) :: padding = 0
    integer(c_int32_t) :: has_padding = 0
    integer(c_int32_t) :: reserved_too = 0
  end type cuszi_options

  type, bind(C) :: cuszi_c_info
    integer(c_int32_t) :: size = 0
    integer(c_int32_t) :: format_version = 0
    type(cuszi_c_field) :: field
    integer(c_int32_t) :: mode = cuszi_rel
    integer(c_int32_t) :: fill_count = 0
    real(c_double) :: bound_asked = 0
    real(c_double) :: bound_absolute = 0
    real(c_double) :: fills(cuszi_max_fills) = 0
    integer(c_int64_t) :: frames = 0
    integer(c_int64_t) :: frame_height = 0
    integer(c_int32_t) :: frame_axis = 0
    integer(c_int32_t) :: reserved = 0
    real(c_double) :: pw_asked = 0
  end type cuszi_c_info

  type, bind(C) :: cuszi_c_part
    integer(c_int32_t) :: size = 0
    integer(c_int32_t) :: reserved = 0
    integer(c_int64_t) :: first(cuszi_max_rank) = 0
    integer(c_int64_t) :: end(cuszi_max_rank) = -1  ! UINT64_MAX: open
    integer(c_int64_t) :: stride = 1
  end type cuszi_c_part

  interface
    function c_version() bind(C, name='cuszi_version') result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function c_version

    function c_context_create() bind(C, name='cuszi_context_create') result(context)
      import :: c_ptr
      type(c_ptr) :: context
    end function c_context_create

    subroutine c_context_destroy(context) bind(C, name='cuszi_context_destroy')
      import :: c_ptr
      type(c_ptr), value :: context
    end subroutine c_context_destroy

    function c_last_error(context) bind(C, name='cuszi_last_error') result(text)
      import :: c_ptr
      type(c_ptr), value :: context
      type(c_ptr) :: text
    end function c_last_error

    function c_last_warning(context) bind(C, name='cuszi_last_warning') result(text)
      import :: c_ptr
      type(c_ptr), value :: context
      type(c_ptr) :: text
    end function c_last_warning

    function c_reached(context) bind(C, name='cuszi_reached') result(reached)
      import :: c_double, c_ptr
      type(c_ptr), value :: context
      real(c_double) :: reached
    end function c_reached

    function c_bound(field, options) bind(C, name='cuszi_bound') result(bytes)
      import :: c_size_t, cuszi_c_field, cuszi_options
      type(cuszi_c_field), intent(in) :: field
      type(cuszi_options), intent(in) :: options
      integer(c_size_t) :: bytes
    end function c_bound

    function c_compress(context, options, field, values, archive, capacity, archive_size) &
        bind(C, name='cuszi_compress') result(status)
      import :: c_int, c_ptr, c_size_t, cuszi_c_field, cuszi_options
      type(c_ptr), value :: context, values, archive
      type(cuszi_options), intent(in) :: options
      type(cuszi_c_field), intent(in) :: field
      integer(c_size_t), value :: capacity
      integer(c_size_t), intent(out) :: archive_size
      integer(c_int) :: status
    end function c_compress

    function c_append(context, path, archive, size) bind(C, name='cuszi_append') result(status)
      import :: c_char, c_int, c_ptr, c_size_t
      type(c_ptr), value :: context, archive
      character(kind=c_char), intent(in) :: path(*)
      integer(c_size_t), value :: size
      integer(c_int) :: status
    end function c_append

    function c_read_info(context, archive, size, info) bind(C, name='cuszi_read_info') result(status)
      import :: c_int, c_ptr, c_size_t, cuszi_c_info
      type(c_ptr), value :: context, archive
      integer(c_size_t), value :: size
      type(cuszi_c_info), intent(inout) :: info
      integer(c_int) :: status
    end function c_read_info

    function c_part_field(context, archive, size, part, field) bind(C, name='cuszi_part_field') result(status)
      import :: c_int, c_ptr, c_size_t, cuszi_c_field, cuszi_c_part
      type(c_ptr), value :: context, archive
      integer(c_size_t), value :: size
      type(cuszi_c_part), intent(in) :: part
      type(cuszi_c_field), intent(out) :: field
      integer(c_int) :: status
    end function c_part_field

    function c_decompress_part(context, options, archive, size, part, values, capacity) &
        bind(C, name='cuszi_decompress_part') result(status)
      import :: c_int, c_ptr, c_size_t, cuszi_c_part, cuszi_options
      type(c_ptr), value :: context, archive, values
      type(cuszi_options), intent(in) :: options
      integer(c_size_t), value :: size, capacity
      type(cuszi_c_part), intent(in) :: part
      integer(c_int) :: status
    end function c_decompress_part

    pure function c_strlen(text) bind(C, name='strlen') result(length)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
      integer(c_size_t) :: length
    end function c_strlen
  end interface
end module cuszi_c_api
