! Uses the module cuszi as a program does. The first argument names a check; one that fails ends the program.
program checks
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env
  use, intrinsic :: ieee_arithmetic
  use cuszi
  implicit none
  character(32) :: name
  character(200) :: message, expected

  call get_command_argument(1, name)
  select case (name)
  case ('ranks'); call check_ranks
  case ('integers'); call check_integers
  case ('sections'); call check_sections
  case ('qualities'); call check_qualities
  case ('missing'); call check_missing
  case ('parts'); call check_parts
  case ('members'); call check_members
  case ('addresses'); call check_addresses
  case ('contexts'); call check_contexts
  case ('failures'); call check_failures
  case ('structs'); call check_structs
  case ('write'); call write_field
  case ('read'); call read_field
  case ('stop'); call end_by_failure
  case default; error stop 'no such check'
  end select
  print '(a)', 'done'

contains

  subroutine expect(condition, what)
    logical, intent(in) :: condition
    character(*), intent(in) :: what

    if (.not. condition) error stop 'not so: '//what
  end subroutine expect

  elemental function wave(i, j, k) result(value)
    integer, intent(in) :: i, j, k
    real(real64) :: value

    value = sin(i / 9d0) * cos(j / 7d0) + k / 5d0
  end function wave

  ! 24 x 18 x 12
  function field() result(a)
    real(real64) :: a(24, 18, 12)
    integer :: i, j, k

    do concurrent (i = 1:24, j = 1:18, k = 1:12)
      a(i, j, k) = wave(i, j, k)
    end do
  end function field

  subroutine check_ranks
    real(real32) :: a1(5184), a2(24, 216), a3(24, 18, 12), a4(24, 6, 3, 12), b1(5184), b2(24, 216), b3(24, 18, 12), &
                    b4(24, 6, 3, 12)
    real(real64) :: d3(24, 18, 12), e3(24, 18, 12)
    real(real64), allocatable :: n1(:), n2(:, :), n3(:, :, :), n4(:, :, :, :)
    real(real32), allocatable :: m1(:), m2(:, :), m3(:, :, :), m4(:, :, :, :)
    integer(int8), allocatable :: archive(:)
    type(cuszi_info) :: info
    real(real64), parameter :: bound = 1d-3

    d3 = field()
    a3 = real(d3, real32)
    a1 = reshape(a3, shape(a1)); a2 = reshape(a3, shape(a2)); a4 = reshape(a3, shape(a4))

    call cuszi_compress(a1, archive, abs=bound)
    call cuszi_decompress(archive, b1); call expect(maxval(abs(real(b1, real64) - a1)) <= bound, 'rank 1, real32')
    call cuszi_decompress_new(archive, m1); call expect(all(m1 == b1), 'new, rank 1, real32')
    call cuszi_compress(a2, archive, abs=bound)
    call cuszi_decompress(archive, b2); call expect(maxval(abs(real(b2, real64) - a2)) <= bound, 'rank 2, real32')
    call cuszi_decompress_new(archive, m2); call expect(all(m2 == b2), 'new, rank 2, real32')
    call cuszi_compress(a4, archive, abs=bound)
    call cuszi_decompress(archive, b4); call expect(maxval(abs(real(b4, real64) - a4)) <= bound, 'rank 4, real32')
    call cuszi_decompress_new(archive, m4); call expect(all(m4 == b4), 'new, rank 4, real32')
    call cuszi_read_info(archive, info); call expect(all(info%shape == shape(a4)), 'shape of rank 4')
    call cuszi_compress(a3, archive, abs=bound)
    call cuszi_decompress(archive, b3); call expect(maxval(abs(real(b3, real64) - a3)) <= bound, 'rank 3, real32')
    call cuszi_decompress_new(archive, m3); call expect(all(m3 == b3), 'new, rank 3, real32')
    call cuszi_read_info(archive, info)
    call expect(info%dtype == cuszi_f32 .and. all(info%shape == shape(a3)), 'type and shape')
    call expect(info%mode == cuszi_abs .and. info%bound <= bound .and. info%bound_asked >= bound, 'bound')
    call expect(info%frames == 1 .and. info%frame_axis == 3 .and. info%frame_height == 12, 'frames')
    call expect(size(info%fill) == 0 .and. info%format_version > 0, 'fill and version')

    call cuszi_compress(d3, archive, abs=bound)
    call expect(size(archive) * 10 < 8 * size(d3), 'a small archive')
    call cuszi_decompress(archive, e3); call expect(maxval(abs(e3 - d3)) <= bound, 'rank 3, real64')
    call cuszi_decompress_new(archive, n3); call expect(all(n3 == e3), 'new, rank 3, real64')
    call cuszi_compress(reshape(d3, [5184]), archive, abs=bound); call cuszi_decompress_new(archive, n1)
    call expect(maxval(abs(n1 - reshape(d3, [5184]))) <= bound, 'rank 1, real64')
    call cuszi_compress(reshape(d3, [24, 216]), archive, abs=bound); call cuszi_decompress_new(archive, n2)
    call expect(maxval(abs(n2 - reshape(d3, [24, 216]))) <= bound, 'rank 2, real64')
    call cuszi_compress(reshape(d3, [4, 6, 18, 12]), archive, abs=bound); call cuszi_decompress_new(archive, n4)
    call expect(maxval(abs(n4 - reshape(d3, [4, 6, 18, 12]))) <= bound, 'rank 4, real64')
  end subroutine check_ranks

  subroutine check_integers
    integer(int8) :: a1(24, 18, 12), b1(24, 18, 12)
    integer(int16) :: a2(24, 18, 12), b2(24, 18, 12)
    integer(int16), target :: c2(24, 18, 12), d2(24, 18, 12)
    integer(int32) :: a4(24, 18, 12), b4(24, 18, 12)
    integer(int64) :: a8(24, 18, 12), b8(24, 18, 12)
    integer(int8), allocatable :: archive(:), n1(:, :, :)
    integer(int16), allocatable :: n2(:, :, :)
    integer(int32), allocatable :: n4(:, :, :)
    integer(int64), allocatable :: n8(:, :, :)
    type(cuszi_info) :: info
    integer :: i, status
    integer, parameter :: halves(2) = [cuszi_f16, cuszi_bf16]

    a1 = int(30 * field(), int8)
    call cuszi_compress(a1, archive, abs=2.5d0); call cuszi_decompress(archive, b1); call cuszi_decompress_new(archive, n1)
    call expect(maxval(abs(int(a1) - b1)) <= 2 .and. any(a1 /= b1) .and. all(n1 == b1), 'int8')
    a2 = int(9000 * field(), int16)
    call cuszi_compress(a2, archive, rel=1d-2); call cuszi_decompress(archive, b2); call cuszi_decompress_new(archive, n2)
    call expect(maxval(abs(int(a2) - b2)) <= 1d-2 * (maxval(a2) - real(minval(a2), real64)) .and. any(a2 /= b2), 'int16')
    call expect(all(n2 == b2), 'new, int16')
    a4 = int(2d8 * field(), int32); a4(3, :, :) = -huge(a4)
    call cuszi_compress(a4, archive, abs=1d4, fill=[-real(huge(a4), real64)])
    call cuszi_decompress(archive, b4); call cuszi_decompress_new(archive, n4)
    call expect(maxval(abs(a4 - b4)) <= 10000 .and. all(b4(3, :, :) == a4(3, :, :)) .and. all(n4 == b4), 'int32')
    call cuszi_read_info(archive, info); call expect(info%dtype == cuszi_i32, 'the type of int32')
    call cuszi_decompress(archive, b2, stat=status, errmsg=message)
    call expect(message == 'values of int32, 24 x 18 x 12 for an array of int16, 24 x 18 x 12', trim(message))
    a8 = int(1d18 * field(), int64); a8(1, 1, 1) = huge(a8)
    call cuszi_compress(a8, archive, abs=1d12); call cuszi_decompress(archive, b8); call cuszi_decompress_new(archive, n8)
    call expect(maxval(abs(a8 - b8)) <= 1000000000000_int64 .and. any(a8 /= b8) .and. all(n8 == b8), 'int64')
    call cuszi_compress(a8, archive, abs=0d0); call cuszi_decompress(archive, b8); call expect(all(a8 == b8), 'lossless')
    call cuszi_compress(a8, archive, rel=1d-3, stat=status)
    call expect(status == cuszi_bad_usage, 'a relative bound of int64')
    c2 = int(15360 + 300 * field(), int16)  ! bits of halves from 1 on
    do i = 1, size(halves)
      call cuszi_compress(c_loc(c2), halves(i), shape(c2, int64), archive, abs=0d0)
      call cuszi_read_info(archive, info)
      call cuszi_decompress(archive, c_loc(d2), int(2 * size(d2), int64))
      call expect(info%dtype == halves(i) .and. all(c2 == d2), 'halves at an address')
    end do
    call cuszi_decompress(archive, b2, stat=status, errmsg=message)
    call expect(message == 'values of bfloat16, 24 x 18 x 12 for an array of int16, 24 x 18 x 12', trim(message))
  end subroutine check_integers

  subroutine check_sections
    real(real64), target :: a(24, 18, 12), b(24, 18, 12)
    real(real64), pointer :: slanted(:, :)
    integer(int8), allocatable :: archive(:), same(:)
    type(cuszi_info) :: info

    a = field()
    call cuszi_compress(a(::2, 3:12, 5), archive, abs=1d-3)
    call cuszi_read_info(archive, info); call expect(all(info%shape == [12, 10]), 'the shape of a section')
    b = -9
    call cuszi_decompress(archive, b(::2, 3:12, 5))
    call expect(maxval(abs(b(::2, 3:12, 5) - a(::2, 3:12, 5))) <= 1d-3, 'a section')
    b(::2, 3:12, 5) = -9
    call expect(all(b == -9), 'values beside a section')
    slanted => a(24:1:-1, :, 2)
    call cuszi_compress(slanted, archive, abs=1d-3)
    call cuszi_compress(a(24:1:-1, :, 2), same, abs=1d-3)
    call expect(size(same) == size(archive), 'a pointer to a section')
    call expect(all(same == archive), 'a pointer to a section')
    call expect(maxval(abs(a - field())) == 0, 'the input')
  end subroutine check_sections

  subroutine check_qualities
    real(real64) :: a(24, 18, 12), b(24, 18, 12)
    integer(int8), allocatable :: archive(:), other(:)
    type(cuszi_context) :: context
    type(cuszi_info) :: info
    type(cuszi_options) :: options
    integer :: i
    character(8), parameter :: presets(6) = [character(8) :: 'ratio', 'cuszi', 'cusz', 'fast', 'zfp', 'balanced']
    character(6), parameter :: efforts(2) = [character(6) :: 'fast', 'normal']

    a = field()
    call cuszi_compress(a, archive, rel=1d-3)
    call cuszi_read_info(archive, info)
    call expect(info%mode == cuszi_rel .and. info%bound <= 1d-3 * (maxval(a) - minval(a)), 'a relative bound')
    call cuszi_compress(a, archive, pw_rel=1d-3); call cuszi_decompress(archive, b)
    call cuszi_read_info(archive, info)
    call expect(info%mode == cuszi_pwrel .and. all(abs(a - b) <= 1d-3 * abs(a)), 'a share of each value')
    call cuszi_compress(a, archive, abs_or_pw_rel=1d-3, pw=1d-2); call cuszi_decompress(archive, b)
    call cuszi_read_info(archive, info)
    call expect(info%mode == cuszi_abs_or_pwrel .and. info%pw_asked == 1d-2 .and. &
                all(abs(a - b) <= max(1d-3, 1d-2 * abs(a))) .and. .not. all(abs(a - b) <= 1d-3), 'the larger of two bounds')
    call cuszi_compress(a, archive, abs_and_pw_rel=1d-3, pw=1d-2); call cuszi_decompress(archive, b)
    call cuszi_read_info(archive, info)
    call expect(info%mode == cuszi_abs_and_pwrel .and. info%bound_asked == 1d-3 .and. &
                all(abs(a - b) <= min(1d-3, 1d-2 * abs(a))) .and. any(a /= b), 'the smaller of two bounds')
    options%mode = cuszi_abs_or_pwrel; options%bound = 1d-3; options%pw = 1d-2
    call cuszi_compress(a, other, options=options); call cuszi_compress(a, archive, abs_or_pw_rel=1d-3, pw=1d-2)
    call expect(all(archive == other), 'two bounds by options')
    call cuszi_compress(a, archive, abs=1d-3, options=options); call cuszi_read_info(archive, info)
    call expect(info%mode == cuszi_abs .and. info%pw_asked == 0, 'one bound instead of two')
    options = cuszi_options()
    call cuszi_compress(a, archive, abs=0d0); call cuszi_decompress(archive, b); call expect(all(a == b), 'lossless')
    call cuszi_compress(a, archive, ratio=20d0, context=context)
    call expect(size(archive) * 20 <= 8 * size(a) .and. context%reached() >= 20, 'a ratio')
    call cuszi_compress(a, archive, psnr=60d0, context=context); call expect(context%reached() >= 60, 'a PSNR')
    call cuszi_compress(a, archive, abs=1d-3, context=context)
    call expect(ieee_is_nan(context%reached()), 'no target')
    do i = 1, size(presets)
      call cuszi_compress(a, archive, abs=1d-3, preset=presets(i))
      call cuszi_decompress(archive, b); call expect(maxval(abs(a - b)) <= 1d-3, 'preset '//presets(i))
      if (i > 1) call expect(.not. same(archive, other), 'presets differ')
      other = archive
    end do
    do i = 1, size(efforts)
      call cuszi_compress(a, archive, abs=1d-3, effort=efforts(i))
      call cuszi_decompress(archive, b); call expect(maxval(abs(a - b)) <= 1d-3, 'effort '//efforts(i))
    end do
    options%threads = 1; options%device = cuszi_device_cpu; options%verify = 1; options%preset = 3
    call cuszi_compress(a, archive, abs=1d-3, options=options)
    call cuszi_compress(a, other, abs=1d-3, preset='fast')
    call expect(same(archive, other), 'options')
    call cuszi_compress(a, archive, abs=1d-3, preset='ratio', options=options)
    call cuszi_compress(a, other, abs=1d-3)
    call expect(same(archive, other), 'arguments before options')
    options%mode = cuszi_abs; options%bound = 1d-3
    call cuszi_compress(a, archive, preset='ratio', options=options)
    call expect(same(archive, other), 'a bound in the options')
  end subroutine check_qualities

  function same(one, other)
    integer(int8), intent(in) :: one(:), other(:)
    logical :: same

    same = size(one) == size(other)
    if (same) same = all(one == other)
  end function same

  subroutine check_missing
    real(real32) :: a(24, 18, 12), b(24, 18, 12)
    integer(int8), allocatable :: archive(:)
    type(cuszi_info) :: info
    type(cuszi_options) :: options
    integer :: status

    a = real(field(), real32)
    a(1:9, :, :) = 1e20
    a(10, :, :) = ieee_value(1.0, ieee_quiet_nan)
    call cuszi_compress(a, archive, abs=1d-3, fill=[1d20, -5d0], warning=message)
    call expect(message == '', 'no warning')
    call cuszi_decompress(archive, b)
    call expect(all(b(1:9, :, :) == 1e20) .and. all(ieee_is_nan(b(10, :, :))), 'missing values')
    call expect(maxval(abs(b(11:, :, :) - a(11:, :, :))) <= 1e-3, 'the others')
    call cuszi_read_info(archive, info)
    call expect(size(info%fill) == 2 .and. any(info%fill == -5), 'fill values in the archive')
    call cuszi_compress(a, archive, rel=1d-3, warning=message)
    call expect(index(message, '1e+20') > 0, 'a warning: '//trim(message))
    options%strict = 1
    call cuszi_compress(a, archive, rel=1d-3, options=options, stat=status, errmsg=message, warning=message)
    call expect(status == cuszi_bad_input, 'a strict warning')
  end subroutine check_missing

  subroutine check_parts
    real(real64) :: a(24, 18, 12), b(24, 18, 12), box(4, 18, 2)
    real(real64), allocatable :: new(:, :, :)
    integer(int8), allocatable :: archive(:)
    integer :: status

    a = field()
    call cuszi_compress(a, archive, abs=1d-3)
    call cuszi_decompress(archive, b)
    call cuszi_decompress(archive, box, first=[21_int64, 1_int64, 3_int64], last=[24_int64, 18_int64, 4_int64])
    call expect(all(box == b(21:24, :, 3:4)), 'a box')
    call cuszi_decompress_new(archive, new, last=[24_int64, 18_int64, 1_int64])
    call expect(all(shape(new) == [24, 18, 1]) .and. all(new == b(:, :, 1:1)), 'the first slice')
    call cuszi_decompress_new(archive, new, stride=4)
    call expect(all(shape(new) == [6, 5, 3]) .and. all(new == b(::4, ::4, ::4)), 'a stride')
    message = ''
    call cuszi_decompress(archive, box, first=[1_int64, 0_int64, 1_int64], stat=status, errmsg=message)
    call expect(status == cuszi_bad_usage .and. &
                message == 'first 1 x 0 x 1 is no index of an array of 24 x 18 x 12', trim(message))
    call cuszi_decompress(archive, box, last=[24_int64, 18_int64], stat=status, errmsg=message)
    call expect(status == cuszi_bad_usage .and. index(message, 'last 24 x 18 is no') == 1, trim(message))
    call cuszi_decompress(archive, box, first=[5_int64, 1_int64, 1_int64], last=[4_int64, 18_int64, 2_int64], &
                          stat=status, errmsg=message)
    call expect(status == cuszi_bad_usage, trim(message))
    call cuszi_decompress(archive, box, stride=3, stat=status, errmsg=message)
    call expect(status == cuszi_bad_usage, trim(message))
    call cuszi_decompress(archive, box, stride=-4, stat=status, errmsg=message)
    call expect(status == cuszi_bad_usage .and. message == 'stride -4 is below 1', trim(message))
  end subroutine check_parts

  subroutine check_members
    real(real64) :: a(24, 18, 12)
    real(real64), allocatable :: b(:, :, :)
    integer(int8), allocatable :: archive(:), file(:)
    integer :: unit, bytes, status

    a = field()
    call cuszi_compress(a, archive, abs=1d-3)
    call cuszi_append('members.cuszi', archive)
    call cuszi_append('members.cuszi', archive)
    open (newunit=unit, file='members.cuszi', access='stream', form='unformatted', action='read')
    inquire (unit, size=bytes)
    allocate (file(bytes))
    read (unit) file
    close (unit, status='delete')
    call expect(bytes == 2 * size(archive), 'two members')
    call cuszi_decompress_new(file, b)
    call expect(size(b, 3) == 24 .and. all(b(:, :, :12) == b(:, :, 13:)) .and. maxval(abs(a - b(:, :, :12))) <= 1d-3, 'one field')
    call cuszi_append('members.cuszi', archive(:10), stat=status)
    call expect(status == cuszi_bad_archive, 'no archive')
  end subroutine check_members

  subroutine check_addresses
    real(real64), target :: a(24, 18, 12), b(24, 18, 12)
    integer(int8), allocatable :: archive(:), other(:)
    integer :: status

    a = field()
    call cuszi_compress(c_loc(a), cuszi_f64, shape(a, int64), archive, abs=1d-3)
    call cuszi_compress(a, other, abs=1d-3)
    call expect(same(archive, other), 'values at an address')
    call cuszi_decompress(archive, c_loc(b), int(8 * size(b), int64))
    call expect(maxval(abs(a - b)) <= 1d-3, 'to an address')
    call cuszi_decompress(archive, c_loc(b), int(8 * size(b) - 1, int64), stat=status)
    call expect(status == cuszi_no_room, 'too little room')
    call cuszi_compress(c_loc(a), 12, shape(a, int64), archive, abs=1d-3, stat=status, errmsg=message)
    call expect(status == cuszi_bad_usage .and. message == 'dtype 12 is not one of cuszi_f32 to cuszi_u64', trim(message))
    call cuszi_compress(c_null_ptr, cuszi_f64, shape(a, int64), archive, abs=1d-3, stat=status)
    call expect(status == cuszi_bad_usage, 'a null pointer')
  end subroutine check_addresses

  subroutine check_contexts
    type(cuszi_context) :: context, copy
    real(real64) :: a(24, 18, 12), b(24, 18, 12)
    integer(int8), allocatable :: archive(:), other(:)
    integer :: i

    a = field()
    do i = 1, 3
      call cuszi_compress(a, archive, abs=1d-3, context=context)
      copy = context
      context = context
      call cuszi_compress(a, other, abs=1d-3, context=copy)
      call cuszi_decompress(other, b, context=context)
      call expect(same(archive, other) .and. maxval(abs(a - b)) <= 1d-3, 'contexts')
    end do
  end subroutine check_contexts

  subroutine check_failures
    real(real64) :: a(24, 18, 12), b(24, 18, 13), none(0, 4), deep(2, 2, 2, 2, 2), scalar
    real(real32) :: single(24, 18, 12)
    real(real64), allocatable :: new(:, :)
    integer(int8), allocatable :: archive(:)
    integer(int8) :: nothing(0)
    integer :: status
    type(cuszi_info) :: info

    a = field(); deep = 1; scalar = 1
    message = 'untouched'
    call cuszi_compress(a, archive, abs=1d-3, stat=status, errmsg=message)
    call expect(status == cuszi_ok .and. message == 'untouched', 'success')

    expected = 'values of real64, 24 x 18 x 12 for an array of real64, 24 x 18 x 13'
    call cuszi_decompress(archive, b, stat=status, errmsg=message); call expect_refusal(status)
    expected = 'values of real64, 24 x 18 x 12 for an array of real32, 24 x 18 x 12'
    call cuszi_decompress(archive, single, stat=status, errmsg=message); call expect_refusal(status)
    expected = 'values of real64, 24 x 18 x 12 for an array of real64 of rank 2'
    call cuszi_decompress_new(archive, new, stat=status, errmsg=message); call expect_refusal(status)
    call expect(.not. allocated(new), 'nothing new')
    call cuszi_decompress(archive(:200), a, stat=status, errmsg=message)
    call expect(status == cuszi_bad_archive .and. message /= '', 'a truncated archive')
    call cuszi_decompress(nothing, a, stat=status, errmsg=message)
    call expect(status == cuszi_bad_archive, 'an empty archive')
    call cuszi_read_info(archive(:10), info, stat=status, errmsg=message)
    call expect(status == cuszi_bad_archive .and. .not. allocated(info%shape), 'ten bytes')

    expected = 'give one of abs=, rel=, pw_rel=, abs_or_pw_rel=, abs_and_pw_rel=, psnr= and ratio=, like abs=1d-3'
    call cuszi_compress(a, archive, stat=status, errmsg=message); call expect_refusal(status)
    call cuszi_compress(a, archive, abs=1d-3, rel=1d-3, stat=status, errmsg=message); call expect_refusal(status)
    call expect(.not. allocated(archive), 'no archive')
    expected = 'pw= goes with abs_or_pw_rel= or abs_and_pw_rel=, and they with it'
    call cuszi_compress(a, archive, abs_or_pw_rel=1d-3, stat=status, errmsg=message); call expect_refusal(status)
    call cuszi_compress(a, archive, abs=1d-3, pw=1d-2, stat=status, errmsg=message); call expect_refusal(status)
    expected = 'pw 0 is not a fraction of each value, above 0 and below 1, as mode abs-and-pwrel needs'
    call cuszi_compress(a, archive, abs_and_pw_rel=1d-3, pw=0d0, stat=status, errmsg=message); call expect_refusal(status)
    expected = 'preset "best" is not one of ratio, cuszi, cusz, fast, zfp, balanced'
    call cuszi_compress(a, archive, abs=1d-3, preset='best', stat=status, errmsg=message)
    call expect_refusal(status)
    expected = 'effort "best" is not one of normal, fast'
    call cuszi_compress(a, archive, abs=1d-3, effort='best', stat=status, errmsg=message)
    call expect_refusal(status)
    expected = 'an array of 0 x 4 has no values'
    call cuszi_compress(none, archive, abs=1d-3, stat=status, errmsg=message); call expect_refusal(status)
    expected = 'an array of rank 5, not 1 to 4'
    call cuszi_compress(deep, archive, abs=1d-3, stat=status, errmsg=message); call expect_refusal(status)
    expected = 'an array of rank 0, not 1 to 4'
    call cuszi_compress(scalar, archive, abs=1d-3, stat=status, errmsg=message); call expect_refusal(status)
    call cuszi_compress(a, archive, abs=-1d0, stat=status, errmsg=message)
    call expect(status == cuszi_bad_usage .and. index(message, 'bound -1') == 1, trim(message))
  end subroutine check_failures

  ! That the call was refused with the expected message.
  subroutine expect_refusal(status)
    integer, intent(in) :: status

    call expect(status == cuszi_bad_usage, expected)
    call expect(message == expected, trim(message)//' instead of '//trim(expected))
  end subroutine expect_refusal

  subroutine check_structs
    use cuszi_c_api, only: cuszi_c_info, cuszi_c_part, cuszi_psnr
    interface
      function options_size() bind(C)
        import :: c_size_t
        integer(c_size_t) :: options_size
      end function options_size
      function info_size() bind(C)
        import :: c_size_t
        integer(c_size_t) :: info_size
      end function info_size
      function part_size() bind(C)
        import :: c_size_t
        integer(c_size_t) :: part_size
      end function part_size
      function options_are_as_expected(options) bind(C)
        import :: c_int, cuszi_options
        type(cuszi_options), intent(in) :: options
        integer(c_int) :: options_are_as_expected
      end function options_are_as_expected
    end interface
    type(cuszi_options) :: o
    type(cuszi_c_info) :: info
    type(cuszi_c_part) :: part

    call expect(c_sizeof(o) == options_size(), 'the size of options')
    call expect(c_sizeof(info) == info_size(), 'the size of info')
    call expect(c_sizeof(part) == part_size(), 'the size of parts')
    o%bound = 1; o%mode = cuszi_psnr; o%preset = 3; o%range_min = 4; o%range_max = 5; o%has_range = 6
    o%fill_count = 7; o%frame_bytes = 8; o%device = cuszi_device_cuda; o%device_index = 9; o%threads = 10
    o%predictor = 11; o%coder = 12; o%lossless = 13; o%radius = 14; o%effort = 15; o%axes = 16; o%axis = 17
    o%reach = 18; o%alpha = 19; o%beta = 20; o%interp_tile = [21, 22, 23]; o%interp_alpha = 24; o%interp_anchor = 25
    o%interp_cubic = 26; o%interp_order(:3) = ['z', 'y', 'x']; o%index = 27; o%chunk = 28; o%partition = 29
    o%huffman_width = 30; o%verify = 31; o%zfp_mode = 32; o%zfp_chunk = 33; o%zfp_amount = 34; o%strict = 35
    o%memory_limit = 36
    call expect(options_are_as_expected(o) == 1, 'the members of options')
  end subroutine check_structs

  ! What the tool reads: field.bin and its archive field.cuszi.
  subroutine write_field
    integer(int8), allocatable :: archive(:)
    integer :: unit

    call cuszi_compress(real(field(), real32), archive, abs=1d-3)
    open (newunit=unit, file='field.cuszi', access='stream', form='unformatted', status='new')
    write (unit) archive
    close (unit)
    open (newunit=unit, file='field_12x18x24.f32', access='stream', form='unformatted', status='new')
    write (unit) real(field(), real32)
    close (unit)
  end subroutine write_field

  ! What the tool has written.
  subroutine read_field
    integer(int8), allocatable :: archive(:)
    real(real32), allocatable :: a(:, :, :)
    integer :: unit, bytes

    inquire (file='made.cuszi', size=bytes)
    allocate (archive(bytes))
    open (newunit=unit, file='made.cuszi', access='stream', form='unformatted', status='old')
    read (unit) archive
    close (unit)
    call cuszi_decompress_new(archive, a)
    call expect(all(shape(a) == [24, 18, 12]), 'the shape of the tool''s archive')
    call expect(maxval(abs(a - field())) <= 1d-3, 'the values of the tool''s archive')
  end subroutine read_field

  subroutine end_by_failure
    integer(int8), allocatable :: archive(:)

    call cuszi_compress([1d0, 2d0], archive, abs=-1d0)
  end subroutine end_by_failure
end program checks
