// expect: a message that no compiler gives
static_assert(false, "another message");
