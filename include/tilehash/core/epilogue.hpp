// SPDX-License-Identifier: Apache-2.0
// Restores the macros that core/prologue.hpp suspended. No `#pragma once`: each inclusion counts.
#pragma pop_macro("slots")
#pragma pop_macro("emit")
#pragma pop_macro("small")
#pragma pop_macro("near")
#pragma pop_macro("far")
#pragma pop_macro("min")
#pragma pop_macro("max")
