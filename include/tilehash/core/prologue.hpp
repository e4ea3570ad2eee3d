// SPDX-License-Identifier: Apache-2.0
// Suspends macros of other headers whose names this library uses; core/epilogue.hpp restores them.
//
// Qt defines `slots` and `emit`, windows.h defines `small`, `near`, `far`, `min` and `max`. A header that
// uses such a name includes this one last, and the epilogue as its last line (CCCL's headers do the same).
// scripts/check_includes.py checks both. No `#pragma once`: each inclusion counts.
#pragma push_macro("slots")
#pragma push_macro("emit")  // oneTBB's
#pragma push_macro("small")
#pragma push_macro("near")
#pragma push_macro("far")
#pragma push_macro("min")
#pragma push_macro("max")
#undef slots
#undef emit
#undef small
#undef near
#undef far
#undef min
#undef max
