// expect: static assertion
// SPDX-License-Identifier: Apache-2.0
static_assert(false, "one message");  // says: another message
