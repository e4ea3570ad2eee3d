#pragma once
#include "detail_threads.hpp"
