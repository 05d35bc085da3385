/// Progress of a build: of the drivers, or of the servers of jeton-lab-load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuildEvent<'a> {
    /// A driver or server is being built.
    Building {
        /// Its id.
        id: &'a str,
        /// The number of this build, counted from 1.
        number: usize,
        /// The total number of builds.
        of: usize,
    },
    /// A driver, server or subject does not take part.
    Unavailable {
        /// Its id.
        id: &'a str,
        /// The reason.
        reason: &'a str,
    },
}
