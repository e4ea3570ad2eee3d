// SPDX-License-Identifier: Apache-2.0
// Macros that other headers define, for tests of what is included after them: names only, with a value that
// does not compile where the name is used.
#pragma once

// The standard library's own headers are read before; they are not what is tested.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <new>
#include <numeric>
#include <optional>
#include <random>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <complex.h>
#include <strings.h>  // the function index()
#include <sys/mman.h>
#include <sys/param.h>
#include <sys/sysmacros.h>
#include <termios.h>
#include <unistd.h>

// Qt
#undef slots
#define slots "a macro of another header"
#undef signals
#define signals "a macro of another header"
#undef emit
#define emit "a macro of another header"
#undef foreach
#define foreach "a macro of another header"
#undef forever
#define forever "a macro of another header"
#undef Q_OBJECT
#define Q_OBJECT "a macro of another header"
#undef Q_SIGNALS
#define Q_SIGNALS "a macro of another header"
#undef Q_SLOTS
#define Q_SLOTS "a macro of another header"
#undef Q_EMIT
#define Q_EMIT "a macro of another header"
#undef SIGNAL
#define SIGNAL "a macro of another header"
#undef SLOT
#define SLOT "a macro of another header"

// X11
#undef None
#define None "a macro of another header"
#undef Bool
#define Bool "a macro of another header"
#undef Status
#define Status "a macro of another header"
#undef True
#define True "a macro of another header"
#undef False
#define False "a macro of another header"
#undef Always
#define Always "a macro of another header"
#undef Success
#define Success "a macro of another header"
#undef Above
#define Above "a macro of another header"
#undef Below
#define Below "a macro of another header"
#undef Complex
#define Complex "a macro of another header"
#undef Convex
#define Convex "a macro of another header"
#undef Nonconvex
#define Nonconvex "a macro of another header"
#undef Unsorted
#define Unsorted "a macro of another header"
#undef Unmap
#define Unmap "a macro of another header"
#undef CurrentTime
#define CurrentTime "a macro of another header"
#undef ControlMask
#define ControlMask "a macro of another header"
#undef KeyPress
#define KeyPress "a macro of another header"
#undef KeyRelease
#define KeyRelease "a macro of another header"
#undef ButtonPress
#define ButtonPress "a macro of another header"
#undef Expose
#define Expose "a macro of another header"
#undef FocusIn
#define FocusIn "a macro of another header"
#undef FocusOut
#define FocusOut "a macro of another header"
#undef CursorShape
#define CursorShape "a macro of another header"
#undef GrayScale
#define GrayScale "a macro of another header"
#undef StaticGray
#define StaticGray "a macro of another header"
#undef PseudoColor
#define PseudoColor "a macro of another header"
#undef TrueColor
#define TrueColor "a macro of another header"
#undef DirectColor
#define DirectColor "a macro of another header"
#undef InputOutput
#define InputOutput "a macro of another header"
#undef InputOnly
#define InputOnly "a macro of another header"
#undef CopyFromParent
#define CopyFromParent "a macro of another header"
#undef ParentRelative
#define ParentRelative "a macro of another header"
#undef BadRequest
#define BadRequest "a macro of another header"
#undef BadValue
#define BadValue "a macro of another header"
#undef BadAlloc
#define BadAlloc "a macro of another header"
#undef BadMatch
#define BadMatch "a macro of another header"
#undef AnyKey
#define AnyKey "a macro of another header"
#undef AllTemporary
#define AllTemporary "a macro of another header"
#undef Opposite
#define Opposite "a macro of another header"
#undef LSBFirst
#define LSBFirst "a macro of another header"
#undef MSBFirst
#define MSBFirst "a macro of another header"
#undef XYPixmap
#define XYPixmap "a macro of another header"
#undef ZPixmap
#define ZPixmap "a macro of another header"
#undef NoSymbol
#define NoSymbol "a macro of another header"
#undef Button1
#define Button1 "a macro of another header"
#undef Mod1Mask
#define Mod1Mask "a macro of another header"

// windows.h
#undef small
#define small "a macro of another header"
#undef hyper
#define hyper "a macro of another header"
#undef near
#define near "a macro of another header"
#undef far
#define far "a macro of another header"
#undef pascal
#define pascal "a macro of another header"
#undef cdecl
#define cdecl "a macro of another header"
#undef interface
#define interface "a macro of another header"
#undef IN
#define IN "a macro of another header"
#undef OUT
#define OUT "a macro of another header"
#undef OPTIONAL
#define OPTIONAL "a macro of another header"
#undef ERROR
#define ERROR "a macro of another header"
#undef DELETE
#define DELETE "a macro of another header"
#undef VOID
#define VOID "a macro of another header"
#undef CONST
#define CONST "a macro of another header"
#undef TRUE
#define TRUE "a macro of another header"
#undef FALSE
#define FALSE "a macro of another header"
#undef NO_ERROR
#define NO_ERROR "a macro of another header"
#undef DIFFERENCE
#define DIFFERENCE "a macro of another header"
#undef ABSOLUTE
#define ABSOLUTE "a macro of another header"
#undef RELATIVE
#define RELATIVE "a macro of another header"
#undef TRANSPARENT
#define TRANSPARENT "a macro of another header"
#undef OPAQUE
#define OPAQUE "a macro of another header"
#undef THIS
#define THIS "a macro of another header"
#undef STRICT
#define STRICT "a macro of another header"
#undef Yield
#define Yield "a macro of another header"
#undef NEAR
#define NEAR "a macro of another header"
#undef FAR
#define FAR "a macro of another header"
#undef CALLBACK
#define CALLBACK "a macro of another header"
#undef PASCAL
#define PASCAL "a macro of another header"
#undef IGNORE
#define IGNORE "a macro of another header"
#undef INFINITE
#define INFINITE "a macro of another header"
#undef GetObject
#define GetObject "a macro of another header"
#undef GetMessage
#define GetMessage "a macro of another header"
#undef CreateWindow
#define CreateWindow "a macro of another header"
#undef SendMessage
#define SendMessage "a macro of another header"
#undef FindText
#define FindText "a macro of another header"
#undef CopyMemory
#define CopyMemory "a macro of another header"
#undef MoveMemory
#define MoveMemory "a macro of another header"
#undef FillMemory
#define FillMemory "a macro of another header"
#undef ZeroMemory
#define ZeroMemory "a macro of another header"
#undef grp1
#define grp1 "a macro of another header"
#undef rad1
#define rad1 "a macro of another header"
#undef chx1
#define chx1 "a macro of another header"
#undef edt1
#define edt1 "a macro of another header"
#undef lst1
#define lst1 "a macro of another header"
#undef psh1
#define psh1 "a macro of another header"
#undef stc1
#define stc1 "a macro of another header"

// POSIX, C and Unix
#undef major
#define major "a macro of another header"
#undef minor
#define minor "a macro of another header"
#undef makedev
#define makedev "a macro of another header"
#undef unix
#define unix "a macro of another header"
#undef linux
#define linux "a macro of another header"
#undef I
#define I "a macro of another header"
#undef complex
#define complex "a macro of another header"
#undef imaginary
#define imaginary "a macro of another header"
#undef B0
#define B0 "a macro of another header"
#undef B50
#define B50 "a macro of another header"
#undef B9600
#define B9600 "a macro of another header"
#undef ECHO
#define ECHO "a macro of another header"
#undef NL0
#define NL0 "a macro of another header"
#undef CR0
#define CR0 "a macro of another header"
#undef TAB0
#define TAB0 "a macro of another header"
#undef BS0
#define BS0 "a macro of another header"
#undef FF0
#define FF0 "a macro of another header"
#undef VT0
#define VT0 "a macro of another header"
#undef MIN
#define MIN "a macro of another header"
#undef MAX
#define MAX "a macro of another header"
#undef ABS
#define ABS "a macro of another header"
#undef CLAMP
#define CLAMP "a macro of another header"
#undef howmany
#define howmany "a macro of another header"
#undef roundup
#define roundup "a macro of another header"
#undef powerof2
#define powerof2 "a macro of another header"
#undef setbit
#define setbit "a macro of another header"
#undef clrbit
#define clrbit "a macro of another header"
#undef isset
#define isset "a macro of another header"
#undef isclr
#define isclr "a macro of another header"
#undef PAGE_SIZE
#define PAGE_SIZE "a macro of another header"
#undef DOMAIN
#define DOMAIN "a macro of another header"
#undef SING
#define SING "a macro of another header"
#undef OVERFLOW
#define OVERFLOW "a macro of another header"
#undef UNDERFLOW
#define UNDERFLOW "a macro of another header"
#undef PLOSS
#define PLOSS "a macro of another header"
#undef TLOSS
#define TLOSS "a macro of another header"
#undef HUGE
#define HUGE "a macro of another header"
#undef NAN
#define NAN "a macro of another header"
#undef INFINITY
#define INFINITY "a macro of another header"
#undef BIG_ENDIAN
#define BIG_ENDIAN "a macro of another header"
#undef LITTLE_ENDIAN
#define LITTLE_ENDIAN "a macro of another header"
#undef BYTE_ORDER
#define BYTE_ORDER "a macro of another header"
#undef PACKAGE
#define PACKAGE "a macro of another header"
#undef VERSION
#define VERSION "a macro of another header"
#undef nil
#define nil "a macro of another header"
#undef YES
#define YES "a macro of another header"
#undef NO
#define NO "a macro of another header"

// Others
#undef CHECK
#define CHECK "a macro of another header"
#undef LOG
#define LOG "a macro of another header"
#undef INFO
#define INFO "a macro of another header"
#undef WARNING
#define WARNING "a macro of another header"
#undef FATAL
#define FATAL "a macro of another header"
#undef TEST
#define TEST "a macro of another header"
#undef FAIL
#define FAIL "a macro of another header"
#undef PI
#define PI "a macro of another header"
#undef BIT
#define BIT "a macro of another header"
#undef ALIGN
#define ALIGN "a macro of another header"
#undef PACKED
#define PACKED "a macro of another header"
#undef UNUSED
#define UNUSED "a macro of another header"
#undef DEPRECATED
#define DEPRECATED "a macro of another header"
#undef INLINE
#define INLINE "a macro of another header"
#undef EXPORT
#define EXPORT "a macro of another header"
#undef likely
#define likely "a macro of another header"
#undef unlikely
#define unlikely "a macro of another header"

// functions
#undef min
#undef max
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) < (b) ? (b) : (a))
