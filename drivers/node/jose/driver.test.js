import { testSubject } from '../harness/subject.js'

// An empty password is taken for a password.
await testSubject(import.meta.url, { takesEmptyKeys: /^PBES2/ })
