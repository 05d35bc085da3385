import { testSubject } from '../harness/subject.js'

await testSubject(import.meta.url)
