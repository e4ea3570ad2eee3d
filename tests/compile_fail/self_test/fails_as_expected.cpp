// expect: the pinned message
// expect: [with; brackets]
// SPDX-License-Identifier: Apache-2.0
static_assert(false, "the pinned message, [with; brackets]");
