// The launches behind the routes, once for each device this program was built for.
#pragma once

#include "kernels/mxfp8_cast/cast.hpp"
#include "kernels/mxfp8_cast/tuning.hpp"

namespace assay::kernels {

namespace cpu::mxfp8_cast {
void launch_rowwise_register(LaunchContext&, const kernels::mxfp8_cast::Problem&,
                             const kernels::mxfp8_cast::Tuning&);
/// In both directions, or colwise alone.
void launch_bidimensional_register(LaunchContext&, const kernels::mxfp8_cast::Problem&,
                                   const kernels::mxfp8_cast::Tuning&);
void launch_rowwise_staged(LaunchContext&, const kernels::mxfp8_cast::Problem&);
void launch_bidimensional_tma(LaunchContext&, const kernels::mxfp8_cast::Problem&);
}  // namespace cpu::mxfp8_cast

namespace cuda::mxfp8_cast {
void launch_rowwise_register(LaunchContext&, const kernels::mxfp8_cast::Problem&,
                             const kernels::mxfp8_cast::Tuning&);
void launch_bidimensional_register(LaunchContext&, const kernels::mxfp8_cast::Problem&,
                                   const kernels::mxfp8_cast::Tuning&);
void launch_rowwise_staged(LaunchContext&, const kernels::mxfp8_cast::Problem&);
void launch_bidimensional_tma(LaunchContext&, const kernels::mxfp8_cast::Problem&);
}  // namespace cuda::mxfp8_cast

}  // namespace assay::kernels
