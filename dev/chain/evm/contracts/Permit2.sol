// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

interface Token {
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

interface ContractWallet {
    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4);
}

/// Transfers by signature, as the contract of the same name makes them on every public chain, at its address: only the
/// part that payments use. Nonces have no order: each is one bit of its owner's map. Nothing here is set up by a
/// constructor, for the code is placed at its address without running one.
contract Permit2 {
    struct TokenPermissions {
        address token;
        uint256 amount;
    }

    struct PermitTransferFrom {
        TokenPermissions permitted;
        uint256 nonce;
        uint256 deadline;
    }

    struct SignatureTransferDetails {
        address to;
        uint256 requestedAmount;
    }

    error InvalidAmount(uint256 maxAmount);
    error SignatureExpired(uint256 signatureDeadline);
    error InvalidNonce();
    error InvalidSignatureLength();
    error InvalidSignature();
    error InvalidSigner();
    error InvalidContractSignature();

    event UnorderedNonceInvalidation(address indexed owner, uint256 word, uint256 mask);

    bytes32 private constant DOMAIN_TYPEHASH =
        keccak256("EIP712Domain(string name,uint256 chainId,address verifyingContract)");
    bytes32 private constant TOKEN_PERMISSIONS_TYPEHASH = keccak256("TokenPermissions(address token,uint256 amount)");
    bytes32 private constant TRANSFER_TYPEHASH = keccak256(
        "PermitTransferFrom(TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline)TokenPermissions(address token,uint256 amount)"
    );
    string private constant WITNESS_TRANSFER_TYPE =
        "PermitWitnessTransferFrom(TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline,";

    mapping(address => mapping(uint256 => uint256)) public nonceBitmap;

    function DOMAIN_SEPARATOR() public view returns (bytes32) {
        return keccak256(abi.encode(DOMAIN_TYPEHASH, keccak256("Permit2"), block.chainid, address(this)));
    }

    function permitTransferFrom(
        PermitTransferFrom memory permit,
        SignatureTransferDetails calldata transferDetails,
        address owner,
        bytes calldata signature
    ) external {
        bytes32 message = keccak256(
            abi.encode(TRANSFER_TYPEHASH, hashOf(permit.permitted), msg.sender, permit.nonce, permit.deadline)
        );
        move(permit, transferDetails, owner, message, signature);
    }

    function permitWitnessTransferFrom(
        PermitTransferFrom memory permit,
        SignatureTransferDetails calldata transferDetails,
        address owner,
        bytes32 witness,
        string calldata witnessTypeString,
        bytes calldata signature
    ) external {
        bytes32 typeHash = keccak256(abi.encodePacked(WITNESS_TRANSFER_TYPE, witnessTypeString));
        bytes32 message = keccak256(
            abi.encode(typeHash, hashOf(permit.permitted), msg.sender, permit.nonce, permit.deadline, witness)
        );
        move(permit, transferDetails, owner, message, signature);
    }

    /// Cancels nonces of one word that are not used yet.
    function invalidateUnorderedNonces(uint256 wordPos, uint256 mask) external {
        nonceBitmap[msg.sender][wordPos] |= mask;
        emit UnorderedNonceInvalidation(msg.sender, wordPos, mask);
    }

    function move(
        PermitTransferFrom memory permit,
        SignatureTransferDetails calldata transferDetails,
        address owner,
        bytes32 message,
        bytes calldata signature
    ) private {
        if (block.timestamp > permit.deadline) revert SignatureExpired(permit.deadline);
        if (transferDetails.requestedAmount > permit.permitted.amount) revert InvalidAmount(permit.permitted.amount);
        use(owner, permit.nonce);
        requireSigned(owner, keccak256(abi.encodePacked("\x19\x01", DOMAIN_SEPARATOR(), message)), signature);
        try Token(permit.permitted.token).transferFrom(owner, transferDetails.to, transferDetails.requestedAmount)
            returns (bool isMade)
        {
            require(isMade, "TRANSFER_FROM_FAILED");
        } catch {
            revert("TRANSFER_FROM_FAILED");
        }
    }

    function use(address owner, uint256 nonce) private {
        uint256 bit = 1 << (nonce & 0xff);
        uint256 word = nonceBitmap[owner][nonce >> 8];
        if (word & bit != 0) revert InvalidNonce();
        nonceBitmap[owner][nonce >> 8] = word | bit;
    }

    /// An account with code is asked itself; any other signs with its key, in 65 bytes or in 64.
    function requireSigned(address owner, bytes32 hash, bytes calldata signature) private view {
        if (owner.code.length > 0) {
            bytes4 answer = ContractWallet(owner).isValidSignature(hash, signature);
            if (answer != ContractWallet.isValidSignature.selector) revert InvalidContractSignature();
            return;
        }
        bytes32 s;
        uint8 v;
        if (signature.length == 65) {
            (s, v) = (bytes32(signature[32:64]), uint8(signature[64]));
        } else if (signature.length == 64) {
            uint256 both = uint256(bytes32(signature[32:64]));
            (s, v) = (bytes32(both & (type(uint256).max >> 1)), uint8(both >> 255) + 27);
        } else {
            revert InvalidSignatureLength();
        }
        address found = ecrecover(hash, v, bytes32(signature[0:32]), s);
        if (found == address(0)) revert InvalidSignature();
        if (found != owner) revert InvalidSigner();
    }

    function hashOf(TokenPermissions memory permitted) private pure returns (bytes32) {
        return keccak256(abi.encode(TOKEN_PERMISSIONS_TYPEHASH, permitted.token, permitted.amount));
    }
}
