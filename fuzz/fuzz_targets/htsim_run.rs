#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    xoff_fuzz::run("htsim_run", bytes);
});
