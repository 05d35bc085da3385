import { testSubject } from '../harness/subject.js'

// The library rejects an empty text, but not an empty buffer or key object.
await testSubject(import.meta.url, { takesEmptyKeys: /^HS/ })
