import { JetonError, invalid } from './errors.js'
import { readUnverified } from './unverified.js'
import type { Verified } from './verified.js'
import { Verifier, type VerifierOptions, type VerifyOptions } from './verifier.js'

/** An issuer of a {@link MultiIssuerVerifier}: its name, its keys and its policy. */
export interface TrustedIssuer<T = Record<string, unknown>>
  extends Omit<VerifierOptions<T>, 'anyIssuer' | 'decryption' | 'format'> {
  /** The claim `iss`. Several names share these keys and need `sharedKeys`. */
  issuer: string | readonly string[]
}

/**
 * Verifies the tokens of several issuers, each with its own keys and its own policy.
 *
 * The claim `iss` selects the issuer before keys are fetched, and only the keys and the policy of that issuer count. So no
 * issuer can sign for another. The token of an unknown issuer costs no request: it is rejected with
 * `TOKEN_ISSUER_MISMATCH`. A token whose claims are encrypted is rejected.
 */
export class MultiIssuerVerifier<T = Record<string, unknown>> {
  readonly #verifiers: readonly Verifier<T>[]
  readonly #indexes = new Map<string, number>()

  constructor(issuers: readonly TrustedIssuer<T>[]) {
    if (!Array.isArray(issuers) || issuers.length === 0) throw invalid('the issuers are not a list with an element')
    this.#verifiers = (issuers as readonly TrustedIssuer<T>[]).map((options, index) => {
      const place = `issuers[${index}]`
      const verifier = placed(place, () => verifierOf(options))
      for (const name of [options.issuer].flat() as string[]) {
        const other = this.#indexes.get(name)
        if (other !== undefined) throw new JetonError('ISSUER_TWICE', `${place}: issuers[${other}] has the same issuer`)
        this.#indexes.set(name, index)
      }
      return verifier
    })
  }

  /** Like {@link Verifier.verify}, with the keys and the policy of the token's issuer. */
  verify(token: string): Verified<T> {
    return this.#of(token).verify(token)
  }

  /** Like {@link Verifier.verifyAsync}, with the keys and the policy of the token's issuer. */
  async verifyAsync(token: string, options?: VerifyOptions): Promise<Verified<T>> {
    return this.#of(token).verifyAsync(token, options)
  }

  /** Like {@link Verifier.verifyJson}, with the keys and the policy of the token's issuer. */
  verifyJson(token: string): Verified<undefined> {
    return this.#of(token).verifyJson(token)
  }

  /** Releases the keys. Any later use is an error. */
  close(): void {
    for (const verifier of this.#verifiers) verifier.close()
  }

  [Symbol.dispose](): void {
    this.close()
  }

  #of(token: string): Verifier<T> {
    const { claims } = readUnverified(token)
    if (claims === null) throw new JetonError('TOKEN_MALFORMED', 'the claims are encrypted: `iss` cannot be read')
    const { iss } = claims
    if (iss === undefined) throw new JetonError('TOKEN_INVALID_CLAIMS', 'the claim `iss` is missing')
    const index = this.#indexes.get(iss as string)
    if (index === undefined) throw new JetonError('TOKEN_ISSUER_MISMATCH', '`iss` is not the expected issuer')
    return this.#verifiers[index]!
  }
}

/** The options of a {@link Verifier} that an issuer does not have. */
const others = ['anyIssuer', 'decryption', 'format'] as const

function verifierOf<T>(options: TrustedIssuer<T>): Verifier<T> {
  const given: VerifierOptions<T> = Object(options)
  const other = others.find(name => given[name] !== undefined)
  if (other !== undefined) throw invalid(`option \`${other}\`: does not apply to one of several issuers`)
  if (given === options && !given.issuer?.length) throw new JetonError('ISSUER_NOT_CHOSEN', 'option `issuer`: missing')
  return new Verifier<T>(options)
}

/** Adds the place to the message of an error. */
function placed<R>(place: string, run: () => R): R {
  try {
    return run()
  } catch (error) {
    throw error instanceof JetonError ? new JetonError(error.code, `${place}: ${error.message}`) : error
  }
}
