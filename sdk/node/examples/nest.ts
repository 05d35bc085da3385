// NestJS on Express: `ISSUER=https://id.example PORT=3000 node nest.js`
import 'reflect-metadata'
import { Controller, Get, HttpException, Module, Req, UseGuards, type CanActivate, type ExecutionContext } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { RemoteKeySet, Verifier } from 'jeton'
import { authenticator } from 'jeton/bearer'
import { authOf } from 'jeton/express'

const issuer = process.env['ISSUER'] ?? 'https://id.example'
const verifier = new Verifier({ keys: new RemoteKeySet({ issuer }), issuer, audience: 'api' })
const authenticate = authenticator({ verifier, scopes: ['read'] })

class BearerGuard implements CanActivate {
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp()
    const request = http.getRequest()
    const { verified, refusal } = await authenticate(request)
    if (refusal) {
      http.getResponse().set(refusal.headers)
      throw new HttpException(refusal.body, refusal.status)
    }
    request.auth = verified
    return true
  }
}

@Controller()
@UseGuards(new BearerGuard())
class MeController {
  @Get('me')
  me(@Req() request: any) {
    return { subject: authOf(request).subject }
  }
}

@Module({ controllers: [MeController] })
class AppModule {}

const app = await NestFactory.create(AppModule, { logger: ['error'] })
await app.listen(Number(process.env['PORT'] ?? 3000))
