//! Identifies the CPU, from `/proc/cpuinfo`.

use jeton_lab_model::result::Processor;

/// The CPU flags that determine the speed of cryptography, with their Linux names: x86 in
/// `arch/x86/include/asm/cpufeatures.h` (the quoted text, or the macro's name in lower case), then
/// aarch64 in `arch/arm64/kernel/cpuinfo.c`. `aes` is a name on both.
const FLAGS_OF_INTEREST: [&str; 25] = [
    "aes",
    "pclmulqdq",
    "ssse3",
    "movbe",
    "sha_ni",
    "avx",
    "avx2",
    "bmi1",
    "bmi2",
    "adx",
    "vaes",
    "vpclmulqdq",
    "avx512f",
    "avx512dq",
    "avx512bw",
    "avx512vl",
    "avx512ifma",
    "asimd",
    "pmull",
    "sha2",
    "sha3",
    "sha512",
    "sve",
    "sve2",
    "svepmull",
];

/// The first CPU of the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cpu {
    /// The model name, if the kernel has one.
    pub(super) name: Option<String>,
    /// The flags that matter.
    pub(super) flags: Vec<String>,
    /// True if the CPU is virtual.
    pub(super) is_virtual: bool,
    /// Further identification.
    pub(super) processor: Processor,
}

/// Reads `/proc/cpuinfo`. Unknown values are empty.
pub(super) fn cpu(cpuinfo: &str) -> Cpu {
    let field = |name: &str| {
        cpuinfo.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            let value = value.trim();
            (key.trim() == name && !value.is_empty()).then(|| value.to_owned())
        })
    };
    let either = |x86: &str, aarch64: &str| field(x86).or_else(|| field(aarch64));
    let flags = either("flags", "Features").unwrap_or_default();
    let present: Vec<&str> = flags.split_whitespace().collect();
    let of_interest = FLAGS_OF_INTEREST.map(str::to_owned);
    let revision = || {
        let variant = field("CPU variant")?;
        let variant = u32::from_str_radix(variant.trim_start_matches("0x"), 16).ok()?;
        Some(format!("r{variant}p{}", field("CPU revision")?))
    };
    Cpu {
        name: field("model name"),
        is_virtual: present.contains(&"hypervisor"),
        flags: (of_interest.iter())
            .filter(|flag| present.contains(&flag.as_str()))
            .cloned()
            .collect(),
        processor: Processor {
            vendor: either("vendor_id", "CPU implementer"),
            family: either("cpu family", "CPU architecture"),
            model: either("model", "CPU part"),
            stepping: field("stepping").or_else(revision),
            microcode: field("microcode"),
            flags_looked_for: of_interest.to_vec(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A virtual AMD EPYC of the fourth generation, Linux 6.18.
    const EPYC: &str = "\
processor\t: 0
vendor_id\t: AuthenticAMD
cpu family\t: 25
model\t\t: 17
model name\t: AMD EPYC
stepping\t: 1
microcode\t: 0x1000065
flags\t\t: fpu sse2 hypervisor pclmulqdq ssse3 movbe aes avx avx2 bmi1 bmi2 avx512f avx512dq adx \
avx512ifma avx512cd sha_ni avx512bw avx512vl avx512vbmi avx512_vbmi2 vaes vpclmulqdq
bugs\t\t: spectre_v1

processor\t: 1
model\t\t: 99
";

    /// An Arm Neoverse V2, for which the kernel has no name.
    const NEOVERSE: &str = "\
processor\t: 0
BogoMIPS\t: 2000.00
Features\t: fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics sha3 sm3 sha512 sve sve2 sveaes svepmull
CPU implementer\t: 0x41
CPU architecture: 8
CPU variant\t: 0x0
CPU part\t: 0xd4f
CPU revision\t: 1
";

    fn of(vendor: &str, [family, model, stepping]: [&str; 3]) -> Processor {
        let known = |text: &str| Some(text.to_owned());
        Processor {
            vendor: known(vendor),
            family: known(family),
            model: known(model),
            stepping: known(stepping),
            microcode: None,
            flags_looked_for: FLAGS_OF_INTEREST.map(str::to_owned).to_vec(),
        }
    }

    #[test]
    fn cpu_of_x86_has_the_kernels_flag_names() {
        let cpu = cpu(EPYC);
        assert_eq!(cpu.name.as_deref(), Some("AMD EPYC"));
        assert!(cpu.is_virtual);
        let flags = "aes pclmulqdq ssse3 movbe sha_ni avx avx2 bmi1 bmi2 adx vaes vpclmulqdq avx512f \
                     avx512dq avx512bw avx512vl avx512ifma";
        assert_eq!(cpu.flags.join(" "), flags);
        let expected = Processor {
            microcode: Some("0x1000065".to_owned()),
            ..of("AuthenticAMD", ["25", "17", "1"])
        };
        assert_eq!(cpu.processor, expected);
    }

    #[test]
    fn cpu_of_aarch64_has_the_kernels_flag_names() {
        let cpu = cpu(NEOVERSE);
        assert_eq!(cpu.name, None);
        assert!(!cpu.is_virtual);
        let flags = "aes asimd pmull sha2 sha3 sha512 sve sve2 svepmull";
        assert_eq!(cpu.flags.join(" "), flags);
        assert_eq!(cpu.processor, of("0x41", ["8", "0xd4f", "r0p1"]));
    }

    #[test]
    fn cpu_without_information_is_unknown() {
        let cpu = cpu("");
        assert_eq!((cpu.name, cpu.flags.len()), (None, 0));
        assert_eq!(cpu.processor.family, None);
    }
}
