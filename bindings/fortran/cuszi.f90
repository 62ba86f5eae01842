!> Error-bounded lossy compression of arrays of real32, real64 and int8 to int64, of rank 1 to 4.
!>
!> Shapes, indices and axes are Fortran's, fastest first. Archives are those of the tool `cuszi`,
!> where dims are slowest first. Values are read and written in place, but compilers copy array
!> sections that are not contiguous.
!>
!> Calls take an optional `stat`, a constant of cuszi_c_api (0: cuszi_ok), and `errmsg`, set to one
!> line on failure. Without `stat`, a failure is an ERROR STOP. All procedures are thread-safe; a
!> context serves one thread at a time.
module cuszi
  use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_f_pointer, c_int, c_int32_t, c_loc, c_null_ptr, c_ptr, &
                                         c_size_t, c_sizeof
  use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
  use cuszi_c_api
  implicit none
  private

  public :: cuszi_append, cuszi_compress, cuszi_decompress, cuszi_decompress_new, cuszi_read_info, cuszi_version
  public :: cuszi_context, cuszi_info, cuszi_options
  public :: cuszi_ok, cuszi_bad_usage, cuszi_bad_input, cuszi_bad_archive, cuszi_bad_bound, cuszi_no_device, &
            cuszi_no_room, cuszi_no_memory, cuszi_internal
  public :: cuszi_f32, cuszi_f64, cuszi_f16, cuszi_bf16, cuszi_i8, cuszi_u8, cuszi_i16, cuszi_u16, cuszi_i32, cuszi_u32, &
            cuszi_i64, cuszi_u64
  public :: cuszi_abs_or_pwrel, cuszi_abs_and_pwrel
  public :: cuszi_rel, cuszi_abs, cuszi_pwrel, cuszi_device_auto, cuszi_device_cpu, cuszi_device_cuda

  !> Reuses backends and memory between calls; without one, calls are slower on a GPU. A copy starts
  !> as a new context.
  type :: cuszi_context
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    !> PSNR in dB or ratio of the last compression to a target; else NaN.
    procedure :: reached => context_reached
    procedure, private :: context_assign
    generic :: assignment(=) => context_assign
    final :: context_destroy
  end type cuszi_context

  !> An archive's metadata.
  type :: cuszi_info
    integer :: dtype = cuszi_f32                    !< cuszi_f32, cuszi_i16 or another
    integer(int64), allocatable :: shape(:)         !< fastest first
    real(real64) :: bound = 0                       !< largest error of a value; huge(bound) if unbounded
    integer :: mode = cuszi_rel                     !< of the bound: cuszi_rel, cuszi_abs, cuszi_pwrel or a mode of two
    real(real64) :: bound_asked = 0                 !< bound as given
    real(real64) :: pw_asked = 0                    !< fraction of each value as given
    real(real64), allocatable :: fill(:)            !< fill values besides NaN and infinities
    integer(int64) :: frames = 0                    !< separately coded slabs
    integer :: frame_axis = 0                       !< axis of the slabs, from 1
    integer(int64) :: frame_height = 0              !< indices per slab, except the last
    integer :: format_version = 0
  end type cuszi_info

  !> call cuszi_compress(a, archive, abs=1d-3)
  !>
  !> Compresses `a`, real32, real64 or an integer of 8 to 64 bits, of rank 1 to 4, to `archive`,
  !> integer(int8) and allocatable. Give one of
  !>   abs, rel    maximum error of a value, in the unit of `a` or as a fraction of its range; 0 is lossless
  !>   pw_rel      maximum error as a fraction of each value; zeros and signs are exact
  !>   abs_or_pw_rel, abs_and_pw_rel  the larger or the smaller of this bound and the fraction `pw` of each value
  !>   psnr, ratio a target: least dB, or least compression ratio
  !> Optional are
  !>   preset      'ratio', 'balanced', 'fast', 'cuszi', 'cusz' or 'zfp'
  !>   effort      'fast' or 'normal'
  !>   fill        fill values besides NaN and infinities; they are exact
  !>   options     all other options of cuszi.h; arguments take precedence
  !>   warning     why the archive is useless though the call succeeded, or blank
  !> and context, stat, errmsg.
  !>
  !> An absolute bound of integers is rounded down, below 1 it is lossless; int64 takes no other.
  !>
  !> call cuszi_compress(address, dtype, shape, archive, ...) takes values at a C address, also on a
  !> CUDA device: `dtype` is cuszi_f32, cuszi_f16, cuszi_u8 or another, `shape` of int64.
  interface cuszi_compress
    procedure :: compress_real32, compress_real64, compress_int8, compress_int16, compress_int32, compress_int64, &
                 compress_address
  end interface cuszi_compress

  !> call cuszi_decompress(archive, a)
  !>
  !> Restores to `a`, of the archive's type and shape; its values are undefined after a failure.
  !> Optional are
  !>   first, last a box: indices `first` to `last` of each axis, from 1, of int64
  !>   stride      a power of two: indices 1, 1 + stride, ... of each axis of the box
  !>   options     where to work, and memory_limit
  !> and context, stat, errmsg.
  !>
  !> call cuszi_decompress(archive, address, bytes, ...) restores to `bytes` (int64) at a C address,
  !> also on a CUDA device.
  interface cuszi_decompress
    procedure :: decompress_real32, decompress_real64, decompress_int8, decompress_int16, decompress_int32, decompress_int64, &
                 decompress_address
  end interface cuszi_decompress

  !> call cuszi_decompress_new(archive, a)
  !>
  !> As cuszi_decompress; allocates `a`, of the archive's type and rank.
  interface cuszi_decompress_new
    procedure :: decompress_new_real32, decompress_new_real64, decompress_new_int8, decompress_new_int16, &
                 decompress_new_int32, decompress_new_int64
  end interface cuszi_decompress_new

  !> By dtype.
  character(8), parameter :: types(0:cuszi_u64) = [character(8) :: 'real32', 'real64', 'half', 'bfloat16', 'int8', 'uint8', &
                                                   'int16', 'uint16', 'int32', 'uint32', 'int64', 'uint64']
  integer, parameter :: value_bytes(0:cuszi_u64) = [4, 8, 2, 2, 1, 1, 2, 2, 4, 4, 8, 8]

  !> Status and message of a call.
  type :: outcome
    integer :: status = cuszi_ok
    character(:), allocatable :: text
  end type outcome

contains

  !> '1.0.0'
  function cuszi_version() result(text)
    character(:), allocatable :: text

    text = text_of(c_version())
  end function cuszi_version

  !> Adds an archive to a file of archives, which is created if need be, and syncs it. They are one
  !> field, stacked along the last axis: of one type, and of equal shapes before that axis.
  subroutine cuszi_append(path, archive, stat, errmsg)
    character(*), intent(in) :: path
    integer(int8), intent(in), contiguous, target :: archive(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(cuszi_context) :: context
    type(outcome) :: ended

    call begin(context, ended)
    if (ended%status == cuszi_ok) then
      call take(c_append(context%handle, trim(path)//c_null_char, c_loc(archive), size(archive, kind=c_size_t)), &
                context, ended)
    end if
    call finish(ended, stat, errmsg)
  end subroutine cuszi_append

  !> Reads metadata; 512 bytes of an archive that was not appended to suffice.
  subroutine cuszi_read_info(archive, info, stat, errmsg)
    integer(int8), intent(in), contiguous, target :: archive(:)
    type(cuszi_info), intent(out) :: info
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(cuszi_c_info) :: found
    type(cuszi_context) :: context
    type(outcome) :: ended

    found%size = int(c_sizeof(found), c_int32_t)
    call begin(context, ended)
    if (ended%status == cuszi_ok) then
      call take(c_read_info(context%handle, c_loc(archive), size(archive, kind=c_size_t), found), context, ended)
    end if
    if (ended%status == cuszi_ok) then
      info%dtype = found%field%dtype
      info%shape = shape_of(found%field)
      info%bound = found%bound_absolute
      info%mode = found%mode
      info%bound_asked = found%bound_asked
      info%pw_asked = found%pw_asked
      info%fill = found%fills(:found%fill_count)
      info%frames = found%frames
      info%frame_axis = found%field%rank - found%frame_axis
      info%frame_height = found%frame_height
      info%format_version = found%format_version
    end if
    call finish(ended, stat, errmsg)
  end subroutine cuszi_read_info

  subroutine compress_real32(a, archive, abs, rel, pw_rel, abs_or_pw_rel, abs_and_pw_rel, pw, psnr, ratio, preset, &
                             effort, fill, options, context, stat, errmsg, warning)
    real(real32), intent(in), contiguous, target :: a(..)
    integer(c_int32_t), parameter :: dtype = cuszi_f32
    include 'compress_arguments.inc'
    include 'compress_array.inc'
  end subroutine compress_real32

  subroutine compress_real64(a, archive, abs, rel, pw_rel, abs_or_pw_rel, abs_and_pw_rel, pw, psnr, ratio, preset, &
                             effort, fill, options, context, stat, errmsg, warning)
    real(real64), intent(in), contiguous, target :: a(..)
    integer(c_int32_t), parameter :: dtype = cuszi_f64
    include 'compress_arguments.inc'
    include 'compress_array.inc'
  end subroutine compress_real64

  subroutine compress_int8(a, archive, abs, rel, pw_rel, abs_or_pw_rel, abs_and_pw_rel, pw, psnr, ratio, preset, &
                           effort, fill, options, context, stat, errmsg, warning)
    integer(int8), intent(in), contiguous, target :: a(..)
    integer(c_int32_t), parameter :: dtype = cuszi_i8
    include 'compress_arguments.inc'
    include 'compress_array.inc'
  end subroutine compress_int8

  subroutine compress_int16(a, archive, abs, rel, pw_rel, abs_or_pw_rel, abs_and_pw_rel, pw, psnr, ratio, preset, &
                            effort, fill, options, context, stat, errmsg, warning)
    integer(int16), intent(in), contiguous, target :: a(..)
    integer(c_int32_t), parameter :: dtype = cuszi_i16
    include 'compress_arguments.inc'
    include 'compress_array.inc'
  end subroutine compress_int16

  subroutine compress_int32(a, archive, abs, rel, pw_rel, abs_or_pw_rel, abs_and_pw_rel, pw, psnr, ratio, preset, &
                            effort, fill, options, context, stat, errmsg, warning)
    integer(int32), intent(in), contiguous, target :: a(..)
    integer(c_int32_t), parameter :: dtype = cuszi_i32
    include 'compress_arguments.inc'
    include 'compress_array.inc'
  end subroutine compress_int32

  subroutine compress_int64(a, archive, abs, rel, pw_rel, abs_or_pw_rel, abs_and_pw_rel, pw, psnr, ratio, preset, &
                            effort, fill, options, context, stat, errmsg, warning)
    integer(int64), intent(in), contiguous, target :: a(..)
    integer(c_int32_t), parameter :: dtype = cuszi_i64
    include 'compress_arguments.inc'
    include 'compress_array.inc'
  end subroutine compress_int64

  subroutine compress_address(address, dtype, shape, archive, abs, rel, pw_rel, abs_or_pw_rel, abs_and_pw_rel, pw, psnr, &
                              ratio, preset, effort, fill, options, context, stat, errmsg, warning)
    type(c_ptr), intent(in) :: address
    integer, intent(in) :: dtype
    integer(int64), intent(in) :: shape(:)
    include 'compress_arguments.inc'
    type(cuszi_context), target :: own
    type(cuszi_context), pointer :: used
    real(real64), allocatable, target :: fills(:)
    type(cuszi_options) :: settings
    type(cuszi_c_field) :: field
    type(outcome) :: ended

    if (present(options)) settings = options
    settings%size = int(c_sizeof(settings), c_int32_t)
    call set_quality(settings, abs, rel, pw_rel, abs_or_pw_rel, abs_and_pw_rel, pw, psnr, ratio, present(options), ended)
    call set_preset(settings, preset, ended)
    call set_effort(settings, effort, ended)
    if (present(fill)) then
      fills = fill
      settings%fill_count = size(fills)
      settings%fills = c_loc(fills)
    end if
    call set_field(field, dtype, shape, ended)
    used => own
    if (present(context)) used => context
    call begin(used, ended)
    if (ended%status == cuszi_ok) call make_archive(used, settings, field, address, archive, ended)
    if (present(warning)) warning = ''
    if (present(warning) .and. ended%status == cuszi_ok) warning = text_of(c_last_warning(used%handle))
    call finish(ended, stat, errmsg)
  end subroutine compress_address

  subroutine decompress_real32(archive, a, first, last, stride, options, context, stat, errmsg)
    real(real32), intent(inout), contiguous, target :: a(..)
    integer(c_int32_t), parameter :: dtype = cuszi_f32
    include 'decompress_arguments.inc'
    include 'decompress_array.inc'
  end subroutine decompress_real32

  subroutine decompress_real64(archive, a, first, last, stride, options, context, stat, errmsg)
    real(real64), intent(inout), contiguous, target :: a(..)
    integer(c_int32_t), parameter :: dtype = cuszi_f64
    include 'decompress_arguments.inc'
    include 'decompress_array.inc'
  end subroutine decompress_real64

  subroutine decompress_int8(archive, a, first, last, stride, options, context, stat, errmsg)
    integer(int8), intent(inout), contiguous, target :: a(..)
    integer(c_int32_t), parameter :: dtype = cuszi_i8
    include 'decompress_arguments.inc'
    include 'decompress_array.inc'
  end subroutine decompress_int8

  subroutine decompress_int16(archive, a, first, last, stride, options, context, stat, errmsg)
    integer(int16), intent(inout), contiguous, target :: a(..)
    integer(c_int32_t), parameter :: dtype = cuszi_i16
    include 'decompress_arguments.inc'
    include 'decompress_array.inc'
  end subroutine decompress_int16

  subroutine decompress_int32(archive, a, first, last, stride, options, context, stat, errmsg)
    integer(int32), intent(inout), contiguous, target :: a(..)
    integer(c_int32_t), parameter :: dtype = cuszi_i32
    include 'decompress_arguments.inc'
    include 'decompress_array.inc'
  end subroutine decompress_int32

  subroutine decompress_int64(archive, a, first, last, stride, options, context, stat, errmsg)
    integer(int64), intent(inout), contiguous, target :: a(..)
    integer(c_int32_t), parameter :: dtype = cuszi_i64
    include 'decompress_arguments.inc'
    include 'decompress_array.inc'
  end subroutine decompress_int64

  subroutine decompress_address(archive, address, bytes, first, last, stride, options, context, stat, errmsg)
    type(c_ptr), intent(in) :: address
    integer(int64), intent(in) :: bytes
    include 'decompress_arguments.inc'
    type(outcome) :: ended

    call restore(archive, address, first, last, stride, options, context, ended, bytes=bytes)
    call finish(ended, stat, errmsg)
  end subroutine decompress_address

  subroutine decompress_new_real32(archive, a, first, last, stride, options, context, stat, errmsg)
    real(real32), intent(out), allocatable, target :: a(..)
    integer(c_int32_t), parameter :: dtype = cuszi_f32
    include 'decompress_arguments.inc'
    include 'decompress_new.inc'
  end subroutine decompress_new_real32

  subroutine decompress_new_real64(archive, a, first, last, stride, options, context, stat, errmsg)
    real(real64), intent(out), allocatable, target :: a(..)
    integer(c_int32_t), parameter :: dtype = cuszi_f64
    include 'decompress_arguments.inc'
    include 'decompress_new.inc'
  end subroutine decompress_new_real64

  subroutine decompress_new_int8(archive, a, first, last, stride, options, context, stat, errmsg)
    integer(int8), intent(out), allocatable, target :: a(..)
    integer(c_int32_t), parameter :: dtype = cuszi_i8
    include 'decompress_arguments.inc'
    include 'decompress_new.inc'
  end subroutine decompress_new_int8

  subroutine decompress_new_int16(archive, a, first, last, stride, options, context, stat, errmsg)
    integer(int16), intent(out), allocatable, target :: a(..)
    integer(c_int32_t), parameter :: dtype = cuszi_i16
    include 'decompress_arguments.inc'
    include 'decompress_new.inc'
  end subroutine decompress_new_int16

  subroutine decompress_new_int32(archive, a, first, last, stride, options, context, stat, errmsg)
    integer(int32), intent(out), allocatable, target :: a(..)
    integer(c_int32_t), parameter :: dtype = cuszi_i32
    include 'decompress_arguments.inc'
    include 'decompress_new.inc'
  end subroutine decompress_new_int32

  subroutine decompress_new_int64(archive, a, first, last, stride, options, context, stat, errmsg)
    integer(int64), intent(out), allocatable, target :: a(..)
    integer(c_int32_t), parameter :: dtype = cuszi_i64
    include 'decompress_arguments.inc'
    include 'decompress_new.inc'
  end subroutine decompress_new_int64

  function context_reached(this) result(reached)
    class(cuszi_context), intent(in) :: this
    real(real64) :: reached

    reached = c_reached(this%handle)
  end function context_reached

  subroutine context_assign(this, other)
    class(cuszi_context), intent(inout) :: this
    class(cuszi_context), intent(in) :: other

    if (c_associated(this%handle, other%handle)) return
    if (c_associated(this%handle)) call c_context_destroy(this%handle)
    this%handle = c_null_ptr
  end subroutine context_assign

  subroutine context_destroy(this)
    type(cuszi_context), intent(inout) :: this

    if (c_associated(this%handle)) call c_context_destroy(this%handle)
    this%handle = c_null_ptr
  end subroutine context_destroy

  subroutine begin(context, ended)
    type(cuszi_context), intent(inout) :: context
    type(outcome), intent(inout) :: ended

    if (ended%status /= cuszi_ok .or. c_associated(context%handle)) return
    context%handle = c_context_create()
    if (.not. c_associated(context%handle)) call fail(ended, cuszi_no_memory, 'no memory for a context')
  end subroutine begin

  !> Copies the result of a C API call.
  subroutine take(status, context, ended)
    integer(c_int), intent(in) :: status
    type(cuszi_context), intent(in) :: context
    type(outcome), intent(inout) :: ended

    if (status /= cuszi_ok) call fail(ended, status, text_of(c_last_error(context%handle)))
  end subroutine take

  subroutine fail(ended, status, text)
    type(outcome), intent(inout) :: ended
    integer, intent(in) :: status
    character(*), intent(in) :: text

    ended%status = status
    ended%text = text
  end subroutine fail

  !> Returns the result to the caller, or stops the program.
  subroutine finish(ended, stat, errmsg)
    type(outcome), intent(in) :: ended
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    if (present(stat)) stat = ended%status
    if (ended%status == cuszi_ok) return
    if (present(errmsg)) errmsg = ended%text
    if (.not. present(stat)) error stop 'cuszi: '//ended%text
  end subroutine finish

  !> Sets the bound or target.
  subroutine set_quality(settings, abs, rel, pw_rel, abs_or_pw_rel, abs_and_pw_rel, pw, psnr, ratio, may_lack, ended)
    type(cuszi_options), intent(inout) :: settings
    real(real64), intent(in), optional :: abs, rel, pw_rel, abs_or_pw_rel, abs_and_pw_rel, pw, psnr, ratio
    logical, intent(in) :: may_lack
    type(outcome), intent(inout) :: ended
    integer :: given

    given = count([present(abs), present(rel), present(pw_rel), present(abs_or_pw_rel), present(abs_and_pw_rel), &
                   present(psnr), present(ratio)])
    if (given > 1 .or. (given == 0 .and. .not. may_lack)) then
      call fail(ended, cuszi_bad_usage, 'give one of abs=, rel=, pw_rel=, abs_or_pw_rel=, abs_and_pw_rel=, psnr= and '// &
                'ratio=, like abs=1d-3')
    end if
    if (present(pw) .neqv. (present(abs_or_pw_rel) .or. present(abs_and_pw_rel))) then
      call fail(ended, cuszi_bad_usage, 'pw= goes with abs_or_pw_rel= or abs_and_pw_rel=, and they with it')
    end if
    if (present(abs)) call set(cuszi_abs, abs)
    if (present(rel)) call set(cuszi_rel, rel)
    if (present(pw_rel)) call set(cuszi_pwrel, pw_rel)
    if (present(abs_or_pw_rel)) call set(cuszi_abs_or_pwrel, abs_or_pw_rel)
    if (present(abs_and_pw_rel)) call set(cuszi_abs_and_pwrel, abs_and_pw_rel)
    if (present(psnr)) call set(cuszi_psnr, psnr)
    if (present(ratio)) call set(cuszi_ratio, ratio)
    if (present(pw)) settings%pw = pw

  contains

    subroutine set(mode, bound)
      integer(c_int32_t), intent(in) :: mode
      real(real64), intent(in) :: bound

      settings%mode = mode
      settings%bound = bound
      settings%pw = 0
    end subroutine set
  end subroutine set_quality

  subroutine set_preset(settings, preset, ended)
    type(cuszi_options), intent(inout) :: settings
    character(*), intent(in), optional :: preset
    type(outcome), intent(inout) :: ended

    if (.not. present(preset)) return
    select case (preset)
    case ('ratio'); settings%preset = 0
    case ('cuszi'); settings%preset = 1
    case ('cusz'); settings%preset = 2
    case ('fast'); settings%preset = 3
    case ('zfp'); settings%preset = 4
    case ('balanced'); settings%preset = 5
    case default
      call fail(ended, cuszi_bad_usage, 'preset "'//preset//'" is not one of ratio, cuszi, cusz, fast, zfp, balanced')
    end select
  end subroutine set_preset

  subroutine set_effort(settings, effort, ended)
    type(cuszi_options), intent(inout) :: settings
    character(*), intent(in), optional :: effort
    type(outcome), intent(inout) :: ended

    if (.not. present(effort)) return
    select case (effort)
    case ('normal'); settings%effort = 0
    case ('fast'); settings%effort = 1
    case default
      call fail(ended, cuszi_bad_usage, 'effort "'//effort//'" is not one of normal, fast')
    end select
  end subroutine set_effort

  subroutine set_field(field, dtype, shape, ended)
    type(cuszi_c_field), intent(out) :: field
    integer, intent(in) :: dtype
    integer(int64), intent(in) :: shape(:)
    type(outcome), intent(inout) :: ended

    if (dtype < 0 .or. dtype >= size(types)) then
      call fail(ended, cuszi_bad_usage, 'dtype '//to_text([int(dtype, int64)])//' is not one of cuszi_f32 to cuszi_u64')
    else if (size(shape) < 1 .or. size(shape) > cuszi_max_rank) then
      call fail(ended, cuszi_bad_usage, 'an array of rank '//to_text([size(shape, kind=int64)])//', not 1 to 4')
    else if (any(shape < 1)) then
      call fail(ended, cuszi_bad_usage, 'an array of '//to_text(shape)//' has no values')
    else
      field%dtype = dtype
      field%rank = size(shape)
      field%dims(:size(shape)) = shape(size(shape):1:-1)
    end if
  end subroutine set_field

  !> Fastest first.
  function shape_of(field) result(extents)
    type(cuszi_c_field), intent(in) :: field
    integer(int64) :: extents(field%rank)

    extents = field%dims(field%rank:1:-1)
  end function shape_of

  !> Compresses to a buffer of the largest size (untouched pages cost nothing) and copies the
  !> archive.
  subroutine make_archive(context, settings, field, address, archive, ended)
    type(cuszi_context), intent(in) :: context
    type(cuszi_options), intent(in) :: settings
    type(cuszi_c_field), intent(in) :: field
    type(c_ptr), intent(in) :: address
    integer(int8), allocatable, intent(out) :: archive(:)
    type(outcome), intent(inout) :: ended
    integer(int8), allocatable, target :: room(:)
    integer(c_size_t) :: bytes
    integer :: status

    bytes = c_bound(field, settings)  ! 0 for invalid input; the next call reports it
    allocate (room(max(bytes, 1_c_size_t)), stat=status)
    if (status /= 0) then
      call fail(ended, cuszi_no_memory, 'no memory for an archive of up to '//to_text([bytes])//' bytes')
      return
    end if
    call take(c_compress(context%handle, settings, field, address, c_loc(room), size(room, kind=c_size_t), bytes), &
              context, ended)
    if (ended%status == cuszi_ok) archive = room(:bytes)
  end subroutine make_archive

  subroutine find_part(context, archive, first, last, stride, part, field, ended)
    type(cuszi_context), intent(inout) :: context
    integer(int8), intent(in), contiguous, target :: archive(:)
    integer(int64), intent(in), optional :: first(:), last(:)
    integer, intent(in), optional :: stride
    type(cuszi_c_part), intent(out) :: part
    type(cuszi_c_field), intent(out) :: field
    type(outcome), intent(inout) :: ended
    type(cuszi_c_info) :: info
    integer(c_size_t) :: bytes

    call begin(context, ended)
    if (ended%status /= cuszi_ok) return
    bytes = size(archive, kind=c_size_t)
    info%size = int(c_sizeof(info), c_int32_t)
    call take(c_read_info(context%handle, c_loc(archive), bytes, info), context, ended)
    if (ended%status == cuszi_ok) call set_part(part, info%field, first, last, stride, ended)
    if (ended%status == cuszi_ok) then
      call take(c_part_field(context%handle, c_loc(archive), bytes, part, field), context, ended)
    end if
  end subroutine find_part

  subroutine set_part(part, whole, first, last, stride, ended)
    type(cuszi_c_part), intent(out) :: part
    type(cuszi_c_field), intent(in) :: whole
    integer(int64), intent(in), optional :: first(:), last(:)
    integer, intent(in), optional :: stride
    type(outcome), intent(inout) :: ended

    part%size = int(c_sizeof(part), c_int32_t)
    if (present(first)) then
      call require_indices('first', first, whole, ended)
      if (ended%status == cuszi_ok) part%first(:whole%rank) = first(whole%rank:1:-1) - 1
    end if
    if (present(last)) then
      call require_indices('last', last, whole, ended)
      if (ended%status == cuszi_ok) part%end(:whole%rank) = last(whole%rank:1:-1)
    end if
    if (present(stride)) then
      part%stride = stride
      if (stride < 1) call fail(ended, cuszi_bad_usage, 'stride '//to_text([int(stride, int64)])//' is below 1')
    end if
  end subroutine set_part

  subroutine require_indices(name, indices, whole, ended)
    character(*), intent(in) :: name
    integer(int64), intent(in) :: indices(:)
    type(cuszi_c_field), intent(in) :: whole
    type(outcome), intent(inout) :: ended

    if (size(indices) == whole%rank) then
      if (all(indices >= 1 .and. indices <= shape_of(whole))) return
    end if
    call fail(ended, cuszi_bad_usage, name//' '//to_text(indices)//' is no index of an array of '// &
              to_text(shape_of(whole)))
  end subroutine require_indices

  !> Extents that decompress_new allocates.
  subroutine new_shape(archive, first, last, stride, dtype, rank, extents, ended)
    integer(int8), intent(in), contiguous, target :: archive(:)
    integer(int64), intent(in), optional :: first(:), last(:)
    integer, intent(in), optional :: stride
    integer, intent(in) :: dtype, rank
    integer(int64), allocatable, intent(out) :: extents(:)
    type(outcome), intent(inout) :: ended
    type(cuszi_context) :: context
    type(cuszi_c_part) :: part
    type(cuszi_c_field) :: field

    call find_part(context, archive, first, last, stride, part, field, ended)
    if (ended%status /= cuszi_ok) return
    extents = shape_of(field)
    if (field%dtype /= dtype .or. field%rank /= rank) then
      call fail(ended, cuszi_bad_usage, 'values of '//description(field%dtype, extents)//' for an array of '// &
                trim(types(dtype))//' of rank '//to_text([int(rank, int64)]))
    end if
  end subroutine new_shape

  !> Restores a part to an array of this type and shape, or to `bytes`, at `address`.
  subroutine restore(archive, address, first, last, stride, options, context, ended, dtype, shape, bytes)
    integer(int8), intent(in), contiguous, target :: archive(:)
    type(c_ptr), intent(in) :: address
    integer(int64), intent(in), optional :: first(:), last(:)
    integer, intent(in), optional :: stride
    type(cuszi_options), intent(in), optional :: options
    type(cuszi_context), intent(inout), optional, target :: context
    type(outcome), intent(inout) :: ended
    integer, intent(in), optional :: dtype
    integer(int64), intent(in), optional :: shape(:), bytes
    type(cuszi_context), target :: own
    type(cuszi_context), pointer :: used
    type(cuszi_options) :: settings
    type(cuszi_c_part) :: part
    type(cuszi_c_field) :: field
    integer(c_size_t) :: room

    if (present(options)) settings = options
    settings%size = int(c_sizeof(settings), c_int32_t)
    used => own
    if (present(context)) used => context
    call find_part(used, archive, first, last, stride, part, field, ended)
    if (present(bytes)) then
      room = bytes
    else
      call require_same(field, dtype, shape, ended)
      room = product(shape) * value_bytes(dtype)
    end if
    if (ended%status /= cuszi_ok) return
    call take(c_decompress_part(used%handle, settings, c_loc(archive), size(archive, kind=c_size_t), part, address, &
                                room), used, ended)
  end subroutine restore

  subroutine require_same(field, dtype, shape, ended)
    type(cuszi_c_field), intent(in) :: field
    integer, intent(in) :: dtype
    integer(int64), intent(in) :: shape(:)
    type(outcome), intent(inout) :: ended

    if (ended%status /= cuszi_ok) return
    if (field%dtype == dtype .and. field%rank == size(shape)) then
      if (all(shape_of(field) == shape)) return
    end if
    call fail(ended, cuszi_bad_usage, 'values of '//description(field%dtype, shape_of(field))// &
              ' for an array of '//description(dtype, shape))
  end subroutine require_same

  !> 'real32, 3 x 4'
  function description(dtype, shape) result(text)
    integer, intent(in) :: dtype
    integer(int64), intent(in) :: shape(:)
    character(:), allocatable :: text

    text = trim(types(dtype))//', '//to_text(shape)
  end function description

  !> '3 x 4'
  function to_text(numbers) result(text)
    integer(int64), intent(in) :: numbers(:)
    character(:), allocatable :: text
    character(20) :: digits
    integer :: i

    text = ''
    do i = 1, size(numbers)
      write (digits, '(i0)') numbers(i)
      if (i > 1) text = text//' x '
      text = text//trim(digits)
    end do
  end function to_text

  function text_of(address) result(text)
    type(c_ptr), intent(in) :: address
    character(:), allocatable :: text
    character(c_char), pointer :: characters(:)
    integer :: i

    call c_f_pointer(address, characters, [c_strlen(address)])
    allocate (character(size(characters)) :: text)
    do i = 1, size(characters)
      text(i:i) = characters(i)
    end do
  end function text_of
end module cuszi
