//! The numbers of the codes.

use std::ffi::{CStr, c_char};

use jeton::error::codes::{self, Code};

/// The result of a function: 0, or the number of an error code. `jeton_codes.h` names the codes.
pub type JetonCode = i32;

/// Success.
pub(crate) const JETON_OK: JetonCode = 0;

/// Creates the list of numbers and the names for C.
macro_rules! numbered {
    ($($number:literal $code:ident,)*) => {
        /// The error codes with their numbers. A number keeps its meaning, so new codes are added at the end.
        pub const NUMBERS: &[(JetonCode, &Code)] = &[$(($number, &codes::$code),)*];

        /// Their names, in the same order.
        const NAMES: &[&CStr] = &[$(c_name(concat!(stringify!($code), "\0")),)*];
    };
}

const fn c_name(name: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(name.as_bytes()) {
        Ok(name) => name,
        // No identifier has a zero byte.
        Err(_) => c"INTERNAL",
    }
}

numbered! {
    1 TOKEN_EXPIRED,
    2 TOKEN_NOT_YET_VALID,
    3 TOKEN_TOO_OLD,
    4 TOKEN_INVALID_SIGNATURE,
    5 TOKEN_UNKNOWN_KEY,
    6 TOKEN_ALGORITHM_MISMATCH,
    7 TOKEN_ENCRYPTION_MISMATCH,
    8 TOKEN_ISSUER_MISMATCH,
    9 TOKEN_AUDIENCE_MISMATCH,
    10 TOKEN_TYPE_MISMATCH,
    11 TOKEN_FOOTER_MISMATCH,
    12 TOKEN_REVOKED,
    13 TOKEN_INVALID_CLAIMS,
    14 TOKEN_CLAIMS_SHAPE,
    15 TOKEN_WITHOUT_KEY_ID,
    16 TOKEN_TOO_LARGE,
    17 TOKEN_MALFORMED,
    18 TOKEN_DUPLICATE_MEMBER,
    19 TOKEN_CRITICAL_EXTENSION,
    20 TOKEN_ALGORITHM_UNPROTECTED,
    21 TOKEN_WITH_PRIVATE_KEY,
    22 TOKEN_COMPRESSED,
    23 KEY_MALFORMED,
    24 KEY_DUPLICATE_MEMBER,
    25 KEY_MEMBER_MISSING,
    26 KEY_MEMBER_TYPE,
    27 KEY_NOT_BASE64URL,
    28 KEY_NOT_BASE64,
    29 KEY_TRUNCATED,
    30 KEY_MULTIPLE_PEM_BLOCKS,
    31 KEY_PEM_LABEL,
    32 KEY_NOT_RECOGNIZED,
    33 KEY_PRIMES_MISSING,
    34 KEY_MEMBER_NULL,
    35 KEY_WRONG_LENGTH,
    36 KEY_TOO_LARGE,
    37 KEY_TOO_WEAK,
    38 KEY_INVALID,
    39 KEY_PAIR_MISMATCH,
    40 KEY_ALGORITHM_MISMATCH,
    41 KEY_TYPE_MISMATCH,
    42 KEY_USE_MISMATCH,
    43 KEY_OPERATION_NOT_PERMITTED,
    44 KEY_CURVE_MISMATCH,
    45 KEY_UNSUPPORTED,
    46 KEY_ALGORITHM_NEEDED,
    47 KEY_AS_SECRET,
    48 KEY_IS_PRIVATE,
    49 KEY_IS_PUBLIC,
    50 KEY_PASSWORD_COST,
    51 KEY_PASSWORD_LIMIT,
    52 KEY_NOT_DECRYPTED,
    53 KEY_KIND_MISMATCH,
    54 KEY_SET_EMPTY,
    55 DISCOVERY_ISSUER_MISMATCH,
    56 DISCOVERY_MALFORMED,
    57 DISCOVERY_TOO_LARGE,
    58 CLAIMS_WITHOUT_EXPIRY,
    59 CLAIMS_REGISTERED_NAME,
    60 CLAIMS_SET_FOR_ALL,
    61 CLAIMS_NOT_AN_OBJECT,
    62 CLAIMS_NOT_SERIALIZABLE,
    63 CLAIMS_SYNTAX,
    64 CLAIMS_DUPLICATE_MEMBER,
    65 CLAIMS_TOO_DEEP,
    66 CLAIM_TYPE,
    67 CLAIM_RANGE,
    68 CLAIM_DATE_FORM,
    69 CLAIM_SET_TWICE,
    70 AUDIENCE_LIST_UNSUPPORTED,
    71 ACCESS_TOKEN_CLAIM_MISSING,
    72 ISSUER_NOT_CHOSEN,
    73 ISSUER_TWICE,
    74 INVALID_KEY_ID,
    75 INVALID_PASSWORD_COST,
    76 FOOTER_TOO_LARGE,
    77 IMPLICIT_ASSERTION_UNSUPPORTED,
    78 INVALID_TYPE,
    79 INVALID_RECIPIENTS,
    80 COMPACT_FORM_UNSUPPORTED,
    81 INVALID_HEADER_MEMBER,
    82 INVALID_PARTY_INFO,
    83 INVALID_PBES2_ROUNDS,
    84 CONTENT_ENCRYPTION_MISMATCH,
    85 INVALID_UNPROTECTED_HEADER,
    86 INVALID_UNENCODED_PAYLOAD,
    87 INVALID_SIGNERS,
    88 RSA_KEY_SHARED,
    89 INVALID_CACHE_ENTRIES,
    90 KEY_SET_ADDRESS,
    91 INVALID_CERTIFICATE_AUTHORITY,
    92 SIGNER_FAILED,
    93 SIGNER_SIGNATURE_FORM,
    94 SIGNER_SIGNATURE_INVALID,
    95 INTERNAL,
    96 KEY_SET_UNREACHABLE,
    97 INVALID_ARGUMENT,
    98 INVALID_CLAIMS,
    99 NO_CREDENTIALS,
    100 BAD_CREDENTIALS,
    101 NO_ADMIN_TOKEN,
    102 NOT_ALLOWED,
    103 HOST_NOT_ALLOWED,
    104 FOREIGN_ORIGIN,
    105 UNKNOWN_ISSUER,
    106 UNKNOWN_PROFILE,
    107 UNKNOWN_KEY,
    108 ISSUER_EXISTS,
    109 DEADLINE_EXCEEDED,
    110 FELL_BEHIND,
    111 OVERLOADED,
    112 NOT_READY,
    113 STALE,
    114 STORE_UNREACHABLE,
    115 STORE,
    116 CONTENDED,
    117 ARGUMENT_NULL,
    118 ARGUMENT_LENGTH,
    119 ARGUMENT_NOT_UTF8,
    120 ARGUMENT_HANDLE,
    121 INVALID_OPTION,
    122 BUFFER_TOO_SMALL,
    123 PREPARED_TOKEN_USED,
    124 KEY_SET_TO_FETCH,
    125 TOKEN_DECRYPTION_FAILED,
}

pub(crate) fn number(code: &Code) -> JetonCode {
    let found = NUMBERS
        .iter()
        .find(|(_, known)| known.name() == code.name());
    // A test compares the two tables.
    found.map_or(INTERNAL, |(number, _)| *number)
}

const INTERNAL: JetonCode = {
    let mut index = 0;
    loop {
        let (number, code) = NUMBERS[index];
        if matches!(code.name().as_bytes(), b"INTERNAL") {
            break number;
        }
        index += 1;
    }
};

/// Returns the name of a code, for example `TOKEN_EXPIRED`, or null for an unknown number. The name ends with a zero
/// byte. The library owns it: do not free it.
#[unsafe(no_mangle)]
pub extern "C" fn jeton_code_name(code: JetonCode) -> *const c_char {
    let at = NUMBERS.iter().position(|(number, _)| *number == code);
    at.and_then(|at| NAMES.get(at))
        .map_or(std::ptr::null(), |name| name.as_ptr())
}
