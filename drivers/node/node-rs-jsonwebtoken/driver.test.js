import { testSubject } from '../harness/subject.js'

// The library accepts an empty secret.
await testSubject(import.meta.url, { takesEmptyKeys: /^HS/ })
