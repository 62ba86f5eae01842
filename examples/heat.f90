! A cooling plate, written as archives with errors of at most 0.01 degrees.
!
!   gfortran heat.f90 $(pkg-config --cflags --libs cuszi-fortran) -Wl,-rpath,$(pkg-config --variable=libdir cuszi) \
!     -o heat && ./heat
!   cuszi inspect heat_0100.cuszi
program heat
  use, intrinsic :: iso_fortran_env, only: int8, real32, real64
  use cuszi, only: cuszi_compress, cuszi_context
  implicit none
  integer, parameter :: nx = 400, ny = 300
  real(real32) :: t(nx, ny), laplacian(nx - 2, ny - 2)
  integer(int8), allocatable :: archive(:)
  type(cuszi_context) :: context
  character(15) :: name
  integer :: step, unit

  t = 20
  t(100:300, 100:200) = 80
  do step = 0, 100
    if (modulo(step, 50) == 0) then
      call cuszi_compress(t, archive, abs=0.01_real64, context=context)
      write (name, '("heat_", i4.4, ".cuszi")') step
      open (newunit=unit, file=name, access='stream', form='unformatted', status='replace')
      write (unit) archive
      close (unit)
      print '(a, i8, a)', name, size(archive), ' bytes'
    end if
    laplacian = t(1:nx - 2, 2:ny - 1) + t(3:nx, 2:ny - 1) + t(2:nx - 1, 1:ny - 2) + t(2:nx - 1, 3:ny) &
                - 4 * t(2:nx - 1, 2:ny - 1)
    t(2:nx - 1, 2:ny - 1) = t(2:nx - 1, 2:ny - 1) + 0.2 * laplacian
  end do
end program heat
