// CUDA's built-in vector types and their make_ functions, with CUDA's sizes and alignments (a float4 is
// 16-byte aligned on the GPU, so a kernel that reads one through a misaligned pointer must fail here too).
#pragma once

#if !defined(__VECTOR_TYPES_H__)  // the toolkit's own header, if a translation unit includes it, comes first
#define __VECTOR_TYPES_H__

#define ASSAY_VECTOR_TYPES(name, element, align2, align4)                                 \
  struct name##1 {                                                                        \
    element x;                                                                            \
  };                                                                                      \
  struct alignas(align2) name##2 {                                                        \
    element x, y;                                                                         \
  };                                                                                      \
  struct name##3 {                                                                        \
    element x, y, z;                                                                      \
  };                                                                                      \
  struct alignas(align4) name##4 {                                                        \
    element x, y, z, w;                                                                   \
  };                                                                                      \
  constexpr name##1 make_##name##1(element x) { return {x}; }                             \
  constexpr name##2 make_##name##2(element x, element y) { return {x, y}; }               \
  constexpr name##3 make_##name##3(element x, element y, element z) { return {x, y, z}; } \
  constexpr name##4 make_##name##4(element x, element y, element z, element w) { return {x, y, z, w}; }

ASSAY_VECTOR_TYPES(char, signed char, 2, 4)
ASSAY_VECTOR_TYPES(uchar, unsigned char, 2, 4)
ASSAY_VECTOR_TYPES(short, short, 4, 8)
ASSAY_VECTOR_TYPES(ushort, unsigned short, 4, 8)
ASSAY_VECTOR_TYPES(int, int, 8, 16)
ASSAY_VECTOR_TYPES(uint, unsigned, 8, 16)
ASSAY_VECTOR_TYPES(longlong, long long, 16, 16)
ASSAY_VECTOR_TYPES(ulonglong, unsigned long long, 16, 16)
ASSAY_VECTOR_TYPES(float, float, 8, 16)
ASSAY_VECTOR_TYPES(double, double, 16, 16)
#undef ASSAY_VECTOR_TYPES

/// Extents of a grid or block; the ones not given are 1.
struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};

#endif
