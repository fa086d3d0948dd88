export class EchoError extends Error {
  override readonly name = 'EchoError'
  readonly mood: string

  constructor(message: string, mood: string, options?: ErrorOptions) {
    super(message, options)
    this.mood = mood
  }
}
