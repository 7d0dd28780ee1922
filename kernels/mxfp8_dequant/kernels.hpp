// The launches behind the routes, once for each device this program was built for.
#pragma once

#include "kernels/mxfp8_dequant/dequant.hpp"

namespace assay::kernels {

namespace cpu::mxfp8_dequant {
void launch_dequant_vector(LaunchContext&, const kernels::mxfp8_dequant::Problem&);
void launch_dequant_scalar(LaunchContext&, const kernels::mxfp8_dequant::Problem&);
}  // namespace cpu::mxfp8_dequant

namespace cuda::mxfp8_dequant {
void launch_dequant_vector(LaunchContext&, const kernels::mxfp8_dequant::Problem&);
void launch_dequant_scalar(LaunchContext&, const kernels::mxfp8_dequant::Problem&);
}  // namespace cuda::mxfp8_dequant

}  // namespace assay::kernels
