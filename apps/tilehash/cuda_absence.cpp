#include "cuda_presence.hpp"

namespace tilehash::app {

std::string why_no_cuda() { return "this program was built without CUDA"; }

}  // namespace tilehash::app
