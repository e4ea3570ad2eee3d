// SPDX-License-Identifier: Apache-2.0
static_assert(false, "a message that nobody pinned");
