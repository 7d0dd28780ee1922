// Invalid memory accesses of lanes: guarded buffers, and the signal that their guard pages raise.
#pragma once

#include <string>

namespace assay::executor::detail {

/// Prepares this OS thread to survive an invalid access by a lane. Nothing under the sanitizers.
void catch_faults_on_this_thread();

/// "4 bytes past the end of 'weights' (4096 bytes)", against the registered buffer nearest to the address.
std::string describe_address(const void* address);

}  // namespace assay::executor::detail
