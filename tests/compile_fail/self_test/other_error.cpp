// expect: a message that no compiler gives
// SPDX-License-Identifier: Apache-2.0
static_assert(false, "another message");
