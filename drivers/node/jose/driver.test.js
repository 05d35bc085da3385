import { testSubject } from '../harness/subject.js'

// The library accepts an empty password.
await testSubject(import.meta.url, { takesEmptyKeys: /^PBES2/ })
