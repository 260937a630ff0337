package io.github.lockspring.testsupport.network;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;

/**
 * A self-signed certificate of this machine, made by the keytool of the JDK that runs the
 * test.
 *
 * @param store a store of the type PKCS12 that has it, and trusts it
 * @param certificate the certificate, PEM
 * @param privateKey its key, PEM
 * @since 0.1
 */
public record TestCertificate(Path store, Path certificate, Path privateKey) {

	/** The password of the store. */
	public static final String PASSWORD = "changeit";

	/**
	 * Makes a certificate.
	 * @param directory where to store it
	 */
	public static TestCertificate make(Path directory) {
		Path store = directory.resolve("store.p12");
		Path keytool = Path.of(System.getProperty("java.home"), "bin", "keytool");
		try {
			Process process = new ProcessBuilder(keytool.toString(), "-genkeypair", "-keyalg", "RSA", "-keysize",
					"2048", "-alias", "test", "-dname", "CN=localhost", "-ext", "san=dns:localhost,ip:127.0.0.1",
					"-validity", "2", "-storetype", "PKCS12", "-keystore", store.toString(), "-storepass", PASSWORD)
				.redirectErrorStream(true)
				.redirectOutput(directory.resolve("keytool.log").toFile())
				.start();
			if (process.waitFor() != 0) {
				throw new IOException(Files.readString(directory.resolve("keytool.log")));
			}
			KeyStore keys = KeyStore.getInstance(store.toFile(), PASSWORD.toCharArray());
			byte[] key = keys.getKey("test", PASSWORD.toCharArray()).getEncoded();
			byte[] certificate = keys.getCertificate("test").getEncoded();
			// trusts the same certificate, since a private key entry does not count as
			// trusted
			keys.setCertificateEntry("trusted", keys.getCertificate("test"));
			try (var out = Files.newOutputStream(store)) {
				keys.store(out, PASSWORD.toCharArray());
			}
			return new TestCertificate(store, pem(directory.resolve("cert.pem"), "CERTIFICATE", certificate),
					pem(directory.resolve("key.pem"), "PRIVATE KEY", key));
		}
		catch (IOException | GeneralSecurityException | InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static Path pem(Path file, String type, byte[] content) throws IOException {
		String text = Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII)).encodeToString(content);
		return Files.writeString(file, "-----BEGIN " + type + "-----\n" + text + "\n-----END " + type + "-----\n");
	}

}
