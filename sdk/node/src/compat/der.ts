/** The algorithm of an RSA key for any padding: rsaEncryption with the parameter NULL. */
const rsaEncryption = Buffer.from('300d06092a864886f70d0101010500', 'hex')

/**
 * Converts the DER of an RSA-PSS key to the DER of an RSA key for any padding. Node has checked the DER, and the caller
 * has checked the parameters.
 */
export function withoutPssParameters(der: Buffer): Buffer {
  const outer = partAt(der, 0)
  const first = partAt(der, outer.start)
  // A private key begins with its version, and a public key with the algorithm.
  const hasVersion = der[outer.start] === 0x02
  const algorithm = hasVersion ? partAt(der, first.end) : first
  const version = hasVersion ? der.subarray(outer.start, first.end) : Buffer.alloc(0)
  const body = Buffer.concat([version, rsaEncryption, der.subarray(algorithm.end, outer.end)])
  return Buffer.concat([Buffer.from([0x30, 0x82, body.length >> 8, body.length & 0xff]), body])
}

/** Returns the position of an element's value, which follows its tag and length. */
function partAt(der: Buffer, at: number): { start: number; end: number } {
  const first = der[at + 1]!
  if (first < 0x80) return { start: at + 2, end: at + 2 + first }
  const bytes = first & 0x7f
  const start = at + 2 + bytes
  return { start, end: start + der.readUIntBE(at + 2, bytes) }
}
