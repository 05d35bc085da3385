package jwt.services;

import static io.grpc.MethodDescriptor.generateFullMethodName;

/**
 */
@io.grpc.stub.annotations.GrpcGenerated
public final class JwtServiceGrpc {

  private JwtServiceGrpc() {}

  public static final java.lang.String SERVICE_NAME = "jwt.services.JwtService";

  // Static method descriptors that strictly reflect the proto.
  private static volatile io.grpc.MethodDescriptor<jwt.services.JwtServiceOuterClass.GenerateJwtRequest,
      jwt.services.JwtServiceOuterClass.GenerateJwtResponse> getGenerateJwtMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "GenerateJwt",
      requestType = jwt.services.JwtServiceOuterClass.GenerateJwtRequest.class,
      responseType = jwt.services.JwtServiceOuterClass.GenerateJwtResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<jwt.services.JwtServiceOuterClass.GenerateJwtRequest,
      jwt.services.JwtServiceOuterClass.GenerateJwtResponse> getGenerateJwtMethod() {
    io.grpc.MethodDescriptor<jwt.services.JwtServiceOuterClass.GenerateJwtRequest, jwt.services.JwtServiceOuterClass.GenerateJwtResponse> getGenerateJwtMethod;
    if ((getGenerateJwtMethod = JwtServiceGrpc.getGenerateJwtMethod) == null) {
      synchronized (JwtServiceGrpc.class) {
        if ((getGenerateJwtMethod = JwtServiceGrpc.getGenerateJwtMethod) == null) {
          JwtServiceGrpc.getGenerateJwtMethod = getGenerateJwtMethod =
              io.grpc.MethodDescriptor.<jwt.services.JwtServiceOuterClass.GenerateJwtRequest, jwt.services.JwtServiceOuterClass.GenerateJwtResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "GenerateJwt"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  jwt.services.JwtServiceOuterClass.GenerateJwtRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  jwt.services.JwtServiceOuterClass.GenerateJwtResponse.getDefaultInstance()))
              .setSchemaDescriptor(new JwtServiceMethodDescriptorSupplier("GenerateJwt"))
              .build();
        }
      }
    }
    return getGenerateJwtMethod;
  }

  /**
   * Creates a new async stub that supports all call types for the service
   */
  public static JwtServiceStub newStub(io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<JwtServiceStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<JwtServiceStub>() {
        @java.lang.Override
        public JwtServiceStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new JwtServiceStub(channel, callOptions);
        }
      };
    return JwtServiceStub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports all types of calls on the service
   */
  public static JwtServiceBlockingV2Stub newBlockingV2Stub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<JwtServiceBlockingV2Stub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<JwtServiceBlockingV2Stub>() {
        @java.lang.Override
        public JwtServiceBlockingV2Stub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new JwtServiceBlockingV2Stub(channel, callOptions);
        }
      };
    return JwtServiceBlockingV2Stub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports unary and streaming output calls on the service
   */
  public static JwtServiceBlockingStub newBlockingStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<JwtServiceBlockingStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<JwtServiceBlockingStub>() {
        @java.lang.Override
        public JwtServiceBlockingStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new JwtServiceBlockingStub(channel, callOptions);
        }
      };
    return JwtServiceBlockingStub.newStub(factory, channel);
  }

  /**
   * Creates a new ListenableFuture-style stub that supports unary calls on the service
   */
  public static JwtServiceFutureStub newFutureStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<JwtServiceFutureStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<JwtServiceFutureStub>() {
        @java.lang.Override
        public JwtServiceFutureStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new JwtServiceFutureStub(channel, callOptions);
        }
      };
    return JwtServiceFutureStub.newStub(factory, channel);
  }

  /**
   */
  public interface AsyncService {

    /**
     * <pre>
     * Takes the next of a thousand addresses as the subject, issues a token for two hours, verifies
     * it, and answers with both.
     * </pre>
     */
    default void generateJwt(jwt.services.JwtServiceOuterClass.GenerateJwtRequest request,
        io.grpc.stub.StreamObserver<jwt.services.JwtServiceOuterClass.GenerateJwtResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getGenerateJwtMethod(), responseObserver);
    }
  }

  /**
   * Base class for the server implementation of the service JwtService.
   */
  public static abstract class JwtServiceImplBase
      implements io.grpc.BindableService, AsyncService {

    @java.lang.Override public final io.grpc.ServerServiceDefinition bindService() {
      return JwtServiceGrpc.bindService(this);
    }
  }

  /**
   * A stub to allow clients to do asynchronous rpc calls to service JwtService.
   */
  public static final class JwtServiceStub
      extends io.grpc.stub.AbstractAsyncStub<JwtServiceStub> {
    private JwtServiceStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected JwtServiceStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new JwtServiceStub(channel, callOptions);
    }

    /**
     * <pre>
     * Takes the next of a thousand addresses as the subject, issues a token for two hours, verifies
     * it, and answers with both.
     * </pre>
     */
    public void generateJwt(jwt.services.JwtServiceOuterClass.GenerateJwtRequest request,
        io.grpc.stub.StreamObserver<jwt.services.JwtServiceOuterClass.GenerateJwtResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getGenerateJwtMethod(), getCallOptions()), request, responseObserver);
    }
  }

  /**
   * A stub to allow clients to do synchronous rpc calls to service JwtService.
   */
  public static final class JwtServiceBlockingV2Stub
      extends io.grpc.stub.AbstractBlockingStub<JwtServiceBlockingV2Stub> {
    private JwtServiceBlockingV2Stub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected JwtServiceBlockingV2Stub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new JwtServiceBlockingV2Stub(channel, callOptions);
    }

    /**
     * <pre>
     * Takes the next of a thousand addresses as the subject, issues a token for two hours, verifies
     * it, and answers with both.
     * </pre>
     */
    public jwt.services.JwtServiceOuterClass.GenerateJwtResponse generateJwt(jwt.services.JwtServiceOuterClass.GenerateJwtRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getGenerateJwtMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do limited synchronous rpc calls to service JwtService.
   */
  public static final class JwtServiceBlockingStub
      extends io.grpc.stub.AbstractBlockingStub<JwtServiceBlockingStub> {
    private JwtServiceBlockingStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected JwtServiceBlockingStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new JwtServiceBlockingStub(channel, callOptions);
    }

    /**
     * <pre>
     * Takes the next of a thousand addresses as the subject, issues a token for two hours, verifies
     * it, and answers with both.
     * </pre>
     */
    public jwt.services.JwtServiceOuterClass.GenerateJwtResponse generateJwt(jwt.services.JwtServiceOuterClass.GenerateJwtRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getGenerateJwtMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do ListenableFuture-style rpc calls to service JwtService.
   */
  public static final class JwtServiceFutureStub
      extends io.grpc.stub.AbstractFutureStub<JwtServiceFutureStub> {
    private JwtServiceFutureStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected JwtServiceFutureStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new JwtServiceFutureStub(channel, callOptions);
    }

    /**
     * <pre>
     * Takes the next of a thousand addresses as the subject, issues a token for two hours, verifies
     * it, and answers with both.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<jwt.services.JwtServiceOuterClass.GenerateJwtResponse> generateJwt(
        jwt.services.JwtServiceOuterClass.GenerateJwtRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getGenerateJwtMethod(), getCallOptions()), request);
    }
  }

  private static final int METHODID_GENERATE_JWT = 0;

  private static final class MethodHandlers<Req, Resp> implements
      io.grpc.stub.ServerCalls.UnaryMethod<Req, Resp>,
      io.grpc.stub.ServerCalls.ServerStreamingMethod<Req, Resp>,
      io.grpc.stub.ServerCalls.ClientStreamingMethod<Req, Resp>,
      io.grpc.stub.ServerCalls.BidiStreamingMethod<Req, Resp> {
    private final AsyncService serviceImpl;
    private final int methodId;

    MethodHandlers(AsyncService serviceImpl, int methodId) {
      this.serviceImpl = serviceImpl;
      this.methodId = methodId;
    }

    @java.lang.Override
    @java.lang.SuppressWarnings("unchecked")
    public void invoke(Req request, io.grpc.stub.StreamObserver<Resp> responseObserver) {
      switch (methodId) {
        case METHODID_GENERATE_JWT:
          serviceImpl.generateJwt((jwt.services.JwtServiceOuterClass.GenerateJwtRequest) request,
              (io.grpc.stub.StreamObserver<jwt.services.JwtServiceOuterClass.GenerateJwtResponse>) responseObserver);
          break;
        default:
          throw new AssertionError();
      }
    }

    @java.lang.Override
    @java.lang.SuppressWarnings("unchecked")
    public io.grpc.stub.StreamObserver<Req> invoke(
        io.grpc.stub.StreamObserver<Resp> responseObserver) {
      switch (methodId) {
        default:
          throw new AssertionError();
      }
    }
  }

  public static final io.grpc.ServerServiceDefinition bindService(AsyncService service) {
    return io.grpc.ServerServiceDefinition.builder(getServiceDescriptor())
        .addMethod(
          getGenerateJwtMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              jwt.services.JwtServiceOuterClass.GenerateJwtRequest,
              jwt.services.JwtServiceOuterClass.GenerateJwtResponse>(
                service, METHODID_GENERATE_JWT)))
        .build();
  }

  private static abstract class JwtServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoFileDescriptorSupplier, io.grpc.protobuf.ProtoServiceDescriptorSupplier {
    JwtServiceBaseDescriptorSupplier() {}

    @java.lang.Override
    public com.google.protobuf.Descriptors.FileDescriptor getFileDescriptor() {
      return jwt.services.JwtServiceOuterClass.getDescriptor();
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.ServiceDescriptor getServiceDescriptor() {
      return getFileDescriptor().findServiceByName("JwtService");
    }
  }

  private static final class JwtServiceFileDescriptorSupplier
      extends JwtServiceBaseDescriptorSupplier {
    JwtServiceFileDescriptorSupplier() {}
  }

  private static final class JwtServiceMethodDescriptorSupplier
      extends JwtServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoMethodDescriptorSupplier {
    private final java.lang.String methodName;

    JwtServiceMethodDescriptorSupplier(java.lang.String methodName) {
      this.methodName = methodName;
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.MethodDescriptor getMethodDescriptor() {
      return getServiceDescriptor().findMethodByName(methodName);
    }
  }

  private static volatile io.grpc.ServiceDescriptor serviceDescriptor;

  public static io.grpc.ServiceDescriptor getServiceDescriptor() {
    io.grpc.ServiceDescriptor result = serviceDescriptor;
    if (result == null) {
      synchronized (JwtServiceGrpc.class) {
        result = serviceDescriptor;
        if (result == null) {
          serviceDescriptor = result = io.grpc.ServiceDescriptor.newBuilder(SERVICE_NAME)
              .setSchemaDescriptor(new JwtServiceFileDescriptorSupplier())
              .addMethod(getGenerateJwtMethod())
              .build();
        }
      }
    }
    return result;
  }
}
