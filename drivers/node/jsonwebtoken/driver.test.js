import { testSubject } from '../harness/subject.js'

// An empty text is refused, but not an empty buffer or key object.
await testSubject(import.meta.url, { takesEmptyKeys: /^HS/ })
