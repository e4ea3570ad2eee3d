// expect: the pinned message
// expect: [with; brackets]
static_assert(false, "the pinned message, [with; brackets]");
